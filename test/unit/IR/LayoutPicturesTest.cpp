//===- LayoutPicturesTest.cpp -----------------------------------*- C++ -*-===//
//
// Part of the dataflow project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pictures of docs/layouts.md, drawn from the classes that they show. A
// picture that is no longer true fails; with DATAFLOW_UPDATE_PICTURES set in
// the environment it is drawn again.
//
//===----------------------------------------------------------------------===//

#include "dataflow/IR/FragmentLayout.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace mlir::df;

namespace {

/// Boxes with a number in them, and lines of text.
class Picture {
public:
  void box(int x, int y, int width, int height, unsigned hue,
           const std::string &label, int size = 9) {
    body << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << width
         << "\" height=\"" << height << "\" fill=\"" << color(hue)
         << "\" stroke=\"#888\"/>\n";
    write(x + width / 2, y + height / 2 + size / 3, label, size, "middle");
    grow(x + width, y + height);
  }
  void text(int x, int y, const std::string &label, int size = 11) {
    write(x, y, label, size, "start");
    grow(x + int(label.size()) * size * 6 / 10, y);
  }
  std::string finish() const {
    std::ostringstream out;
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width + 8
        << "\" height=\"" << height + 8
        << "\" font-family=\"sans-serif\">\n<rect width=\"100%\" "
           "height=\"100%\" fill=\"#fff\"/>\n"
        << body.str() << "</svg>\n";
    return out.str();
  }

private:
  static std::string color(unsigned hue) {
    static const char *colors[] = {"#dbe9f6", "#fde8cd", "#dcf0d9", "#f8d9dc",
                                   "#e6dff2", "#f3ecc0", "#d5efee", "#ececec"};
    return colors[hue % 8];
  }
  void write(int x, int y, const std::string &label, int size,
             const char *anchor) {
    body << "<text x=\"" << x << "\" y=\"" << y << "\" font-size=\"" << size
         << "\" text-anchor=\"" << anchor << "\">" << label << "</text>\n";
  }
  void grow(int x, int y) {
    width = std::max(width, x);
    height = std::max(height, y);
  }

  std::ostringstream body;
  int width = 0, height = 0;
};

std::string threadOf(const FragmentLayout::Place &place) {
  return "T" + std::to_string(place.lane + 32 * place.warp + 128 * place.group);
}

/// Rows and columns of a tile, each element with its thread and register;
/// coloured by warp. Neighbours in one thread share a box.
std::string drawFragment(const FragmentLayout &layout, int cellWidth,
                         int cellHeight, bool registers) {
  Picture picture;
  unsigned run = layout.contiguous(1);
  for (int64_t row = 0; row < layout.shape()[0]; ++row) {
    picture.text(2, 28 + row * cellHeight + cellHeight / 2, std::to_string(row),
                 8);
    for (int64_t column = 0; column < layout.shape()[1]; column += run) {
      if (row == 0)
        picture.text(24 + column * cellWidth, 16, std::to_string(column), 8);
      FragmentLayout::Place place = layout.place({row, column});
      std::string label = threadOf(place);
      if (registers) {
        label += " r" + std::to_string(place.reg);
        if (run > 1)
          label += "-" + std::to_string(place.reg + run - 1);
      }
      picture.box(22 + column * cellWidth, 20 + row * cellHeight,
                  cellWidth * run, cellHeight, place.warp + 4 * place.group,
                  label);
    }
  }
  return picture.finish();
}

/// A vector of 64, 16 elements a column: the threads that hold each.
std::string drawSlice(const FragmentLayout &layout) {
  Picture picture;
  for (int64_t element = 0; element < layout.shape()[0]; ++element) {
    FragmentLayout::Place place = layout.place({element});
    // The zero bits of the lane, which are the lowest here.
    unsigned copies = 1;
    for (FragmentLayout::Base base : layout.laneBases()) {
      if (!base.isZero())
        break;
      copies *= 2;
    }
    int x = element / 16 * 150, y = 20 + element % 16 * 18;
    if (element % 16 == 0)
      picture.text(x + 30, 14, "warp " + std::to_string(place.warp));
    picture.text(x + 2, y + 12, std::to_string(element), 9);
    unsigned thread = place.lane + 32 * place.warp;
    picture.box(x + 28, y, 104, 18, place.warp,
                "T" + std::to_string(thread) + " to T" +
                    std::to_string(thread + copies - 1) + ": r" +
                    std::to_string(place.reg));
  }
  return picture.finish();
}

/// One atom of each swizzle, by address: which row and unit lies where.
std::string drawSwizzles() {
  Picture picture;
  int y = 0;
  for (unsigned swizzle : {128u, 64u, 32u}) {
    int64_t columns = swizzle / 2, units = swizzle / 16;
    SharedLayout layout =
        *SharedLayout::get({8, columns}, 2, swizzle, AtomOrder::rows);
    picture.text(2, y + 14,
                 "swizzle " + std::to_string(swizzle) +
                     ": bytes from the beginning of the atom; r.u is unit u of "
                     "row r",
                 10);
    for (int64_t row = 0; row < 8; ++row)
      for (int64_t unit = 0; unit < units; ++unit) {
        int64_t offset = layout.byteOffset(row, unit * 8, 2);
        int line = offset / 128, place = offset % 128 / 16;
        picture.box(44 + place * 44, y + 22 + line * 18, 44, 18, unit,
                    std::to_string(row) + "." + std::to_string(unit));
        if (place == 0)
          picture.text(2, y + 34 + line * 18, std::to_string(offset), 9);
      }
    y += 22 + 8 * int(swizzle) / 128 * 18 + 14;
  }
  return picture.finish();
}

/// A tile of 4 groups of rows and 3 chunks in both orders: where atoms begin.
std::string drawOrders() {
  Picture picture;
  int x = 0;
  for (AtomOrder order : {AtomOrder::rows, AtomOrder::columns}) {
    SharedLayout layout = *SharedLayout::get({32, 192}, 2, 128, order);
    picture.text(x + 2, 14,
                 order == AtomOrder::rows ? "rows: KiB at which atoms begin"
                                          : "columns");
    for (int64_t group = 0; group < 4; ++group)
      for (int64_t chunk = 0; chunk < 3; ++chunk)
        picture.box(x + 2 + chunk * 64, 22 + group * 32, 64, 32, chunk,
                    std::to_string(
                        *layout.windowOffset(8 * group, 64 * chunk, 2) / 1024),
                    12);
    x += 230;
  }
  return picture.finish();
}

void compare(const std::string &name, const std::string &drawn) {
  std::string path = std::string(DATAFLOW_PICTURES) + "/" + name + ".svg";
  if (std::getenv("DATAFLOW_UPDATE_PICTURES")) {
    std::ofstream(path) << drawn;
    return;
  }
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == drawn)
      << path << " is no longer what the layouts are";
}

TEST(Pictures, ShowTheLayouts) {
  compare("accumulator", drawFragment(*FragmentLayout::accumulator({64, 16}, 0),
                                      44, 14, true));
  compare(
      "accumulator-transposed",
      drawFragment(*FragmentLayout::accumulator({8, 64}, 1), 30, 16, false));
  compare("slice",
          drawSlice(FragmentLayout::accumulator({64, 16}, 0)->slice(1)));
  compare("blocked", drawFragment(FragmentLayout::blocked({16, 64}, 4, 1, 2),
                                  12, 16, true));
  compare("swizzle", drawSwizzles());
  compare("atom-order", drawOrders());
}

} // namespace
