// The driver of libFuzzer (compiler-rt, FuzzerInterface.h), for a program with a main function of its own.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Runs the fuzzer with the options of its command line.
/// - Returns: the exit status of the program.
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*test)(const uint8_t *bytes, size_t size));
