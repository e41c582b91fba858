# SPDX-License-Identifier: MIT
# Targets sb_uv, sb_cjson, sb_cmocka and sb_zlib of the cross-build, all static. The first three are
# built once per checkout in SB_DEPS_DIR, from Debian's sources (fetch.sh); zlib is a Debian package
# for mingw. Nothing of them is in the repository.
set(SB_DEPS_DIR ${PROJECT_SOURCE_DIR}/build/deps CACHE PATH "Where the libraries of the cross-build are kept")

# The recipe names the folder: another recipe, another folder.
file(SHA256 ${CMAKE_CURRENT_LIST_DIR}/fetch.sh _fetch)
file(SHA256 ${CMAKE_CURRENT_LIST_DIR}/deps/CMakeLists.txt _build)
string(SHA256 _recipe "${_fetch}${_build}")
string(SUBSTRING ${_recipe} 0 12 _recipe)
set(_deps ${SB_DEPS_DIR}/mingw-${_recipe})

file(LOCK ${SB_DEPS_DIR} DIRECTORY GUARD FILE TIMEOUT 600)
if(NOT EXISTS ${_deps}/.ready)
    message(STATUS "Fetching and building libuv, cJSON and cmocka in ${_deps}")
    execute_process(COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/fetch.sh ${_deps}/src
        OUTPUT_FILE ${SB_DEPS_DIR}/fetch.log ERROR_FILE ${SB_DEPS_DIR}/fetch.log RESULT_VARIABLE _bad)
    if(_bad)
        message(FATAL_ERROR "Cannot fetch the libraries of the cross-build: see ${SB_DEPS_DIR}/fetch.log")
    endif()
    execute_process(COMMAND ${CMAKE_COMMAND} -G ${CMAKE_GENERATOR}
            -S ${CMAKE_CURRENT_LIST_DIR}/deps -B ${_deps}/build -DCMAKE_BUILD_TYPE=RelWithDebInfo
            -DCMAKE_TOOLCHAIN_FILE=${CMAKE_CURRENT_LIST_DIR}/mingw.cmake
            -DSB_DEPS_SRC=${_deps}/src -DSB_DEPS_OUT=${_deps}
        OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${CMAKE_COMMAND} --build ${_deps}/build OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE_RECURSE ${_deps}/src ${_deps}/build)
    file(TOUCH ${_deps}/.ready)
endif()
file(LOCK ${SB_DEPS_DIR} DIRECTORY RELEASE)

# sb_dependency(NAME LIBRARY USES...)
function(sb_dependency name library)
    add_library(${name} STATIC IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${_deps}/lib/lib${library}.a
        INTERFACE_INCLUDE_DIRECTORIES "${_deps}/include" INTERFACE_LINK_LIBRARIES "${ARGN}")
endfunction()
sb_dependency(sb_uv uv psapi user32 advapi32 iphlpapi userenv ws2_32 dbghelp ole32 shell32)
sb_dependency(sb_cjson cjson)
sb_dependency(sb_cmocka cmocka)

# Without this FindZLIB takes the import library, and the program needs a zlib1.dll that only Wine has.
set(ZLIB_USE_STATIC_LIBS ON)
find_package(ZLIB REQUIRED)
add_library(sb_zlib ALIAS ZLIB::ZLIB)
