# Writes build_id.h: the SHA-256 over name and content of every source of base, wire and guest.
# Run by: cmake -DOUT=... -DROOT=... -DFILES=a;b;c -P build_id.cmake
list(SORT FILES)
set(all "")
foreach(file IN LISTS FILES)
    file(RELATIVE_PATH name ${ROOT} ${file})
    file(SHA256 ${file} hash)
    string(APPEND all "${name} ${hash}\n")
endforeach()
string(SHA256 id "${all}")
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define SB_BUILD_ID \"${id}\"\n" @ONLY)
