# SPDX-License-Identifier: MIT
# Toolchain file: Windows x86-64, cross-built by mingw-w64, tests run through Wine where it is installed.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(_triple x86_64-w64-mingw32)
set(CMAKE_C_COMPILER ${_triple}-gcc)
set(CMAKE_RC_COMPILER ${_triple}-windres)
set(CMAKE_FIND_ROOT_PATH /usr/${_triple})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# C99 printf: msvcrt's own knows no %zu and cuts differently.
set(CMAKE_C_FLAGS_INIT "-D__USE_MINGW_ANSI_STDIO=1")

# No mingw run-time DLL; the second flag brings libssp, which stack protector and fortify need.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -fstack-protector-strong")

# The `wine` wrapper of Debian talks about wine32 on stderr; the loader itself does not.
find_program(SB_WINE NAMES wine64 wine PATHS /usr/lib/wine)
if(SB_WINE)
    get_filename_component(_run ${CMAKE_CURRENT_LIST_DIR}/../../tests/wine/run.sh ABSOLUTE)
    set(CMAKE_CROSSCOMPILING_EMULATOR
        ${CMAKE_COMMAND};-E;env;SB_WINE=${SB_WINE};SB_WINEPREFIX=${CMAKE_BINARY_DIR}/wineprefix;sh;${_run})
endif()
