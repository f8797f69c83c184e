# Writes FILES one behind the other to OUTPUT, as a string literal of C++.
string(REPLACE "," ";" files "${FILES}")
set(text "")
foreach(file IN LISTS files)
  file(READ "${file}" content)
  string(APPEND text "R\"library(${content})library\"\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
