package eventlog_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/cache"
	"github.com/berth-go/berth/cache/eventlog"
)

// A process logs its events, dies while it writes, and starts again with all but the event that was not written to its end.
func Example() {
	var disk bytes.Buffer
	c, _ := cache.New(cache.Config{})
	log := eventlog.NewWriter(&disk)
	follow := func() {
		events, _ := c.EventsSince(log.Position().Version)
		if err := log.Append(events...); err != nil {
			fmt.Println(err)
		}
	}
	c.AddNode(&berth.Node{Name: "a", Allocatable: berth.Resources{MilliCPU: 4000, Pods: 110}})
	c.AddPod(&berth.Pod{Namespace: "shop", Name: "web", NodeName: "a"})
	follow()
	kept := c.Publish().Digest()
	c.RemoveNode("a")
	follow()
	disk.Truncate(disk.Len() - 7)

	again, _ := cache.New(cache.Config{})
	at, err := eventlog.Replay(bytes.NewReader(disk.Bytes()), again)
	var torn *eventlog.TornError
	if errors.As(err, &torn) {
		fmt.Println(err)
		disk.Truncate(int(torn.Position.Offset))
	}
	fmt.Println(again.Version(), again.Publish().Digest() == kept)

	// The log goes on where it was cut.
	again.RemovePod(berth.PodKey{Namespace: "shop", Name: "web"})
	events, _ := again.EventsSince(at.Version)
	fmt.Println(eventlog.Continue(&disk, at).Append(events...))
	// Output:
	// eventlog: log is torn at byte 218: the record after version 2 is incomplete, 48 bytes of it are there
	// 2 true
	// <nil>
}

// To cut off the past, a new log begins with the state as it is.
func ExampleWriter_Checkpoint() {
	c, _ := cache.New(cache.Config{})
	for range 1000 {
		c.SetNamespace(&berth.Namespace{Name: "shop"})
	}
	snapshot := c.Publish()
	c.RemoveNamespace("shop")

	var disk bytes.Buffer
	log := eventlog.NewWriter(&disk)
	if err := log.Checkpoint(snapshot); err != nil {
		fmt.Println(err)
	}
	events, _ := c.EventsSince(snapshot.Version())
	fmt.Println(len(events), log.Append(events...))

	again, _ := cache.New(cache.Config{})
	at, err := eventlog.Replay(&disk, again)
	fmt.Println(at.Version, err)
	// Output:
	// 1 <nil>
	// 1001 <nil>
}
