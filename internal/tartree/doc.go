// Package tartree opens recorded file trees, compressed tar archives of /sys and the like, as file systems. Tests keep
// thousands of small files in one file this way, and nothing is unpacked to disk.
package tartree
