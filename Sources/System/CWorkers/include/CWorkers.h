// Nothing to call: the module changes how libdispatch keeps its workers, by being linked.
