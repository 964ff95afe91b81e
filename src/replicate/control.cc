#include "replicate/control.h"
