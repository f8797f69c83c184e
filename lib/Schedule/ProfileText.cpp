//===- ProfileText.cpp - Device profiles as JSON --------------------------===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes the file that docs/calibrate.md describes. Reading is
// strict: every member has to be there, and no other.
//
//===----------------------------------------------------------------------===//

#include "JsonValue.h"
#include "dataflow/Schedule/JsonWriter.h"
#include "dataflow/Schedule/Message.h"
#include "dataflow/Schedule/Profile.h"

#include <cmath>
#include <fstream>
#include <iterator>

using namespace dfrt;
using namespace dfrt::detail;

namespace {
/// The members of an object, taken one after the other; the first failure
/// stays.
class Members {
public:
  Members(const JsonValue &value, const std::string &name)
      : value(value), name(name) {
    if (value.kind != JsonValue::Kind::object)
      fail(value, "expected an object, got ", value.kindName());
  }

  void take(const char *key, std::string &result) {
    if (const JsonValue *v = get(key, JsonValue::Kind::string, "a string"))
      result = v->string;
  }
  void take(const char *key, double &result) {
    if (const JsonValue *v = get(key, JsonValue::Kind::number, "a number"))
      result = v->number;
  }
  void take(const char *key, uint64_t &result) { integer(key, result, 1e15); }
  void take(const char *key, uint32_t &result) { integer(key, result, 4e9); }
  /// A number, or null for 0.
  void takeOrNull(const char *key, double &result) {
    const JsonValue *v = find(key);
    if (v && v->kind == JsonValue::Kind::null)
      result = 0;
    else
      take(key, result);
  }
  /// An object or array, for the caller to look into; null after a failure.
  const JsonValue *nested(const char *key, JsonValue::Kind kind,
                          const char *expected) {
    return get(key, kind, expected);
  }
  /// The same of a member that may be missing; null then.
  const JsonValue *nestedIfThere(const char *key, JsonValue::Kind kind,
                                 const char *expected) {
    return find(key) ? nested(key, kind, expected) : nullptr;
  }
  /// Places of multiprocessors; null or "unknown" for none.
  void takePlaces(const char *key, std::vector<int32_t> &result) {
    const JsonValue *v = find(key);
    if (v && v->kind == JsonValue::Kind::string && v->string == "unknown")
      return;
    v = get(key, JsonValue::Kind::array, "an array or \"unknown\"");
    for (size_t i = 0; v && i < v->items.size(); ++i) {
      const JsonValue &item = v->items[i];
      if (item.kind == JsonValue::Kind::null)
        result.push_back(-1);
      else if (item.kind == JsonValue::Kind::number &&
               item.number == std::floor(item.number) && item.number >= 0 &&
               item.number < 65536)
        result.push_back(int32_t(item.number));
      else
        return fail(item, "expected an integer from 0 or null");
    }
  }

  /// Fails when a member was not asked for.
  Status done() {
    for (size_t i = 0; i < value.keys.size(); ++i) {
      bool known = false;
      for (const std::string &key : asked)
        known |= key == value.keys[i];
      if (!known)
        fail(value.items[i], "this member is not known");
    }
    return status;
  }
  template <typename... Parts>
  void fail(const JsonValue &at, const Parts &...parts) {
    if (status.ok())
      status =
          failure(StatusCode::invalidFile, name, ": ",
                  at.place.empty() ? "the file" : at.place, ": ", parts...);
  }

private:
  const JsonValue &value;
  const std::string &name;
  std::vector<std::string> asked;
  Status status;

  const JsonValue *find(const char *key) {
    asked.push_back(key);
    return status.ok() ? value.find(key) : nullptr;
  }
  const JsonValue *get(const char *key, JsonValue::Kind kind,
                       const char *expected) {
    const JsonValue *v = find(key);
    if (!status.ok())
      return nullptr;
    if (!v) {
      JsonValue missing;
      missing.place = value.place.empty() ? key : textOf(value.place, ".", key);
      fail(missing, "this member is missing");
      return nullptr;
    }
    if (v->kind != kind) {
      fail(*v, "expected ", expected, ", got ", v->kindName());
      return nullptr;
    }
    return v;
  }
  template <typename Integer>
  void integer(const char *key, Integer &result, double most) {
    const JsonValue *v =
        get(key, JsonValue::Kind::number, "a non-negative integer");
    if (!v)
      return;
    if (v->number < 0 || v->number > most || v->number != std::floor(v->number))
      return fail(*v, "expected a non-negative integer, got ", v->number);
    result = Integer(v->number);
  }
};

Status readSamples(const JsonValue &value, const std::string &name,
                   std::vector<DeviceProfile::HopSample> &samples) {
  for (const JsonValue &item : value.items) {
    bool pair = item.kind == JsonValue::Kind::array && item.items.size() == 2;
    for (const JsonValue &number : item.items)
      pair &= number.kind == JsonValue::Kind::number && number.number >= 0;
    if (!pair || item.items[0].number > 1e15)
      return failure(StatusCode::invalidFile, name, ": ", item.place,
                     ": expected [bytes, cycles]");
    samples.push_back({uint64_t(item.items[0].number), item.items[1].number});
  }
  return Status::success();
}

Status readHop(const JsonValue &value, const std::string &name,
               DeviceProfile::Hop &hop) {
  Members members(value, name);
  std::string transport;
  members.take("transport", transport);
  members.take("ctas", hop.ctas);
  members.take("waiters", hop.waiters);
  members.take("latency_cycles", hop.latencyCycles);
  members.takeOrNull("bytes_per_cycle", hop.bytesPerCycle);
  const JsonValue *samples =
      members.nested("samples", JsonValue::Kind::array, "an array");
  uint32_t kind = 0;
  while (kind < kHopKinds && transport != hopName(HopKind(kind)))
    ++kind;
  if (const JsonValue *at = value.find("transport"); at && kind == kHopKinds)
    members.fail(*at, "transport '", transport, "' is not known");
  DFRT_TRY(members.done());
  hop.kind = HopKind(kind);
  return readSamples(*samples, name, hop.samples);
}

Status readRead(const JsonValue &value, const std::string &name,
                DeviceProfile::Read &read) {
  Members members(value, name);
  members.take("ctas", read.ctas);
  members.take("cluster_size", read.clusterSize);
  members.take("gb_per_s", read.bandwidth);
  return members.done();
}

/// The version comes first: of another one nothing else is known.
Status checkVersion(const JsonValue &file, const std::string &name) {
  const JsonValue *version = file.find("version");
  if (!version || version->kind != JsonValue::Kind::number)
    return failure(StatusCode::invalidFile, name,
                   ": version: this member is missing or no number; is it a "
                   "device profile?");
  if (version->number != double(DeviceProfile::kVersion))
    return failure(StatusCode::invalidFile, name, ": version is ",
                   version->number, ", expected ", DeviceProfile::kVersion,
                   "; make the profile again with df-run --calibrate");
  return Status::success();
}

Status readInto(const JsonValue &file, const std::string &name,
                DeviceProfile &profile) {
  Members members(file, name);
  uint64_t version = 0;
  members.take("version", version);
  members.take("card", profile.card);
  members.take("architecture", profile.architecture);
  members.take("driver", profile.driver);
  members.take("date", profile.date);
  members.take("clock_mhz", profile.clockMegahertz);
  members.take("maximum_clock_mhz", profile.maximumClockMegahertz);
  members.take("multiprocessors", profile.multiprocessors);
  members.take("shared_bytes", profile.sharedBytes);
  members.take("l2_bytes", profile.l2Bytes);
  members.take("memory_bytes", profile.memoryBytes);
  const JsonValue *clusters =
      members.nested("resident_clusters", JsonValue::Kind::object, "an object");
  const JsonValue *launch =
      members.nested("launch", JsonValue::Kind::object, "an object");
  const JsonValue *reads =
      members.nested("reads", JsonValue::Kind::array, "an array");
  const JsonValue *hops =
      members.nested("hops", JsonValue::Kind::array, "an array");
  const JsonValue *kernels =
      members.nestedIfThere("kernels", JsonValue::Kind::object, "an object");
  members.takePlaces("processing_clusters", profile.processingClusters);
  members.takePlaces("l2_sides", profile.l2Sides);
  DFRT_TRY(members.done());

  Members sizes(*clusters, name);
  for (uint32_t i = 0; i < 5; ++i)
    sizes.take(std::to_string(1u << i).c_str(), profile.residentClusters[i]);
  DFRT_TRY(sizes.done());
  Members costs(*launch, name);
  costs.take("event_pair_ns", profile.launch.eventPair);
  costs.take("empty_kernel_ns", profile.launch.emptyKernel);
  costs.take("graph_node_ns", profile.launch.graphNode);
  costs.take("read_kernel_ns", profile.launch.readKernel);
  DFRT_TRY(costs.done());
  if (kernels) {
    profile.kernels.emplace();
    Members fitted(*kernels, name);
    fitted.take("read_share", profile.kernels->readShare);
    fitted.take("instruction_ns", profile.kernels->instruction);
    fitted.take("start_ns", profile.kernels->start);
    DFRT_TRY(fitted.done());
  }
  for (const JsonValue &item : reads->items)
    DFRT_TRY(readRead(item, name, profile.reads.emplace_back()));
  for (const JsonValue &item : hops->items)
    DFRT_TRY(readHop(item, name, profile.hops.emplace_back()));
  return Status::success();
}

/// Six digits are more than was measured.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value))
    return value;
  double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 5);
  return unit < 1 ? std::round(value / unit) / std::round(1 / unit)
                  : std::round(value / unit) * unit;
}

void writePlaces(JsonWriter &json, const char *key,
                 const std::vector<int32_t> &places) {
  json.line(1);
  if (places.empty())
    return json.member(key, "unknown");
  json.beginArray(key);
  for (size_t i = 0; i < places.size(); ++i) {
    if (i && i % 32 == 0)
      json.line(2);
    if (places[i] < 0)
      json.element(std::nan("")); // null
    else
      json.element(places[i]);
  }
  json.endArray();
}

void writeHop(JsonWriter &json, const DeviceProfile::Hop &hop) {
  json.line(2);
  json.beginObject();
  json.member("transport", hopName(hop.kind));
  json.member("ctas", hop.ctas);
  json.member("waiters", hop.waiters);
  json.member("latency_cycles", rounded(hop.latencyCycles));
  json.member("bytes_per_cycle",
              hop.bytesPerCycle ? rounded(hop.bytesPerCycle) : std::nan(""));
  json.line(3);
  json.beginArray("samples");
  for (const DeviceProfile::HopSample &sample : hop.samples) {
    json.beginArray();
    json.element(sample.bytes);
    json.element(rounded(sample.cycles));
    json.endArray();
  }
  json.endArray();
  json.endObject();
}
} // namespace

Expected<DeviceProfile> dfrt::readProfile(const std::string &text,
                                          const std::string &name) {
  Expected<JsonValue> file = parseJson(text, name);
  if (!file)
    return file.status();
  DFRT_TRY(checkVersion(*file, name));
  DeviceProfile profile;
  DFRT_TRY(readInto(*file, name, profile));
  if (Status s = check(profile); !s)
    return failure(StatusCode::invalidFile, name, ": ", s.message());
  return profile;
}

Expected<DeviceProfile> dfrt::readProfileFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file.is_open() || file.bad())
    return failure(StatusCode::invalidFile, "cannot read device profile '",
                   path, "'");
  return readProfile(text, path);
}

std::string dfrt::profileText(const DeviceProfile &profile) {
  JsonWriter json;
  auto member = [&](const char *key, const auto &value) {
    json.line(1);
    json.member(key, value);
  };
  json.beginObject();
  member("version", DeviceProfile::kVersion);
  member("card", profile.card);
  member("architecture", profile.architecture);
  member("driver", profile.driver);
  member("date", profile.date);
  member("clock_mhz", rounded(profile.clockMegahertz));
  member("maximum_clock_mhz", rounded(profile.maximumClockMegahertz));
  member("multiprocessors", profile.multiprocessors);
  member("shared_bytes", profile.sharedBytes);
  member("l2_bytes", profile.l2Bytes);
  member("memory_bytes", profile.memoryBytes);
  json.line(1);
  json.beginObject("resident_clusters");
  for (uint32_t i = 0; i < 5; ++i)
    json.member(std::to_string(1u << i).c_str(), profile.residentClusters[i]);
  json.endObject();
  json.line(1);
  json.beginObject("launch");
  json.member("event_pair_ns", rounded(profile.launch.eventPair));
  json.member("empty_kernel_ns", rounded(profile.launch.emptyKernel));
  json.member("graph_node_ns", rounded(profile.launch.graphNode));
  json.member("read_kernel_ns", rounded(profile.launch.readKernel));
  json.endObject();
  json.line(1);
  json.beginArray("reads");
  for (const DeviceProfile::Read &read : profile.reads) {
    json.line(2);
    json.beginObject();
    json.member("ctas", read.ctas);
    json.member("cluster_size", read.clusterSize);
    json.member("gb_per_s", rounded(read.bandwidth));
    json.endObject();
  }
  json.endArray();
  json.line(1);
  json.beginArray("hops");
  for (const DeviceProfile::Hop &hop : profile.hops)
    writeHop(json, hop);
  json.endArray();
  if (profile.kernels) {
    json.line(1);
    json.beginObject("kernels");
    json.member("read_share", rounded(profile.kernels->readShare));
    json.member("instruction_ns", rounded(profile.kernels->instruction));
    json.member("start_ns", rounded(profile.kernels->start));
    json.endObject();
  }
  writePlaces(json, "processing_clusters", profile.processingClusters);
  writePlaces(json, "l2_sides", profile.l2Sides);
  json.line(0);
  json.endObject();
  return json.take() + "\n";
}
