// libfuse 3's low-level API as Swift can import it. <stddef.h> comes first: libfuse's header uses size_t unannounced.
#pragma once
#define FUSE_USE_VERSION 312
#include <stddef.h>
#include <fuse3/fuse_lowlevel.h>
