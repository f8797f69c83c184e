# cmake -DINPUT=text -DOUTPUT=header -DNAME=array -P EmbedText.cmake
# The bytes of a file, and a zero behind them, as a C++ array. No file: only the zero.
set(bytes "")
if(INPUT)
  file(READ "${INPUT}" bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
endif()
file(WRITE "${OUTPUT}" "static const unsigned char ${NAME}[] = {${bytes}0};\n")
