module github.com/berth-go/berth/benchmarks/ants

go 1.26.0

require (
	github.com/berth-go/berth v0.0.0
	github.com/panjf2000/ants/v2 v2.12.1
)

require golang.org/x/sync v0.23.0 // indirect

replace github.com/berth-go/berth => ../..
