/* Parses the file of argument 1, runs the pipeline of argument 2 on it, and
 * proves the schedules that are there then by a pass that is made without a
 * name. */

#include "dataflow-c/Dataflow.h"
#include "dataflow-c/Passes.h"

#include "mlir-c/Pass.h"
#include "mlir-c/Support.h"

#include <stdio.h>

static void print(MlirStringRef text, void *unused) {
  (void)unused;
  fwrite(text.data, 1, text.length, stderr);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  static char text[1 << 16];
  FILE *file = fopen(argv[1], "rb");
  size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
  text[length] = 0;

  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirDataflowRegisterDialects(registry);
  mlirDataflowRegisterPasses();
  MlirContext context =
      mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__dataflow__(), context);
  MlirModule module =
      mlirModuleCreateParse(context, mlirStringRefCreateFromCString(text));
  if (mlirModuleIsNull(module))
    return 1;
  MlirPassManager manager = mlirPassManagerCreate(context);
  if (mlirLogicalResultIsFailure(mlirParsePassPipeline(
          mlirPassManagerGetAsOpPassManager(manager),
          mlirStringRefCreateFromCString(argv[2]), print, NULL)))
    return 1;
  mlirOpPassManagerAddOwnedPass(
      mlirPassManagerGetNestedUnder(
          manager, mlirStringRefCreateFromCString("dataflow.program")),
      mlirCreateDataflowTransformsVerifySchedule());
  MlirOperation root = mlirModuleGetOperation(module);
  if (mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(manager, root)))
    return 1;
  mlirOperationDump(root);
  mlirPassManagerDestroy(manager);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  return 0;
}
