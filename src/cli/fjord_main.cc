#include "cli/app.h"

int main(int argc, char** argv) { return fjord::Main(argc, argv); }
