// The header has all the code; this file has the compiler read it whenever the package is built.
#include "appcontainer/darwin.h"
