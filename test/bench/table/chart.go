package main

import (
	"fmt"

	"github.com/waybill-dev/waybill/test/bench"
	"github.com/waybill-dev/waybill/test/peers"
)

// chart publishes a chart to 1,000 clusters with ten sets of values. The peer is helm
// template for each cluster, from 50 of them.
func chart(b *workbench) (measured, error) {
	const clusters, sample = 1000, 50
	programs, err := peers.Built()
	if err != nil {
		return measured{}, fmt.Errorf("building helm: %w", err)
	}
	dir, err := b.folder()
	if err != nil {
		return measured{}, err
	}
	src, bare, err := b.repositories(dir, bench.Charts(clusters, 10))
	if err != nil {
		return measured{}, err
	}
	m, err := b.do("", b.waybill, "publish", src, "--to", bare)
	if err != nil {
		return m, err
	}
	for i := range sample {
		one, err := b.do(src, programs.Helm, "template", "shop", "charts/shop", "-n", "shop", "--set", fmt.Sprintf("region=r%d", i%10))
		if err != nil {
			return m, err
		}
		m.peer += one.wall * clusters / sample
	}
	return m, nil
}
