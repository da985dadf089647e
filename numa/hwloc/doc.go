// Package hwloc reads a numa.Machine from hwloc's XML export (lstopo out.xml),
// versions 2 and 3, and the objects, though not the distances, of version 1.
//
// What is used: packages, dies, cores, PUs, caches, NUMA nodes with their
// memory, page sizes and technology, the NUMALatency and NVLinkBandwidth
// matrices, memory bandwidths, PCI devices. A CPU that lies in the sets of
// several nodes, as where HBM and DRAM share cores, belongs to the lowest.
package hwloc
