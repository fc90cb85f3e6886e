package api_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/scheduler"
)

func nodeStatus(name string, number int) *scheduler.NodeStatus {
	return &scheduler.NodeStatus{NodeReport: &execute.NodeReport{Node: cluster.Node{ID: cluster.NodeID(fmt.Sprintf(name, number))}}}
}

// Nodes come in pages in the order of their names; a node that goes between two pages shifts none.
func TestNodesInPages(t *testing.T) {
	b := newFixture(t)
	b.scheduler.snap.Nodes = nil
	for i := range 7 {
		b.scheduler.snap.Nodes = append(b.scheduler.snap.Nodes, nodeStatus("n%d", i))
	}
	names := func(l *wire.NodeList) (text string) {
		for i := range l.Nodes {
			text += l.Nodes[i].Name + " "
		}
		return text
	}
	first := read[wire.NodeList](t, b.as("alice", "GET", "/v1/nodes?limit=3", ""), 200)
	b.scheduler.snap.Nodes = append(b.scheduler.snap.Nodes[:2:2], b.scheduler.snap.Nodes[3:]...) // n2, the last one of the page, goes
	second := read[wire.NodeList](t, b.as("alice", "GET", "/v1/nodes?limit=3&cursor="+first.Next, ""), 200)
	third := read[wire.NodeList](t, b.as("alice", "GET", "/v1/nodes?limit=3&cursor="+second.Next, ""), 200)
	if got := names(&first) + "| " + names(&second) + "| " + names(&third); got != "n0 n1 n2 | n3 n4 n5 | n6 " || third.Next != "" || second.Total != 6 {
		t.Errorf("pages %s, next %q, total %d", got, third.Next, second.Total)
	}
	server := httptest.NewServer(b.Handler())
	defer server.Close()
	c, err := client.New(client.Settings{Server: server.URL, Token: b.tokens["alice"]})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6000 {
		b.scheduler.snap.Nodes = append(b.scheduler.snap.Nodes, nodeStatus("o%04d", i))
	}
	all, err := c.Nodes(t.Context())
	if err != nil || len(all.Nodes) != 6006 || all.Nodes[6005].Name != "o5999" || all.Next != "" {
		t.Errorf("%d nodes, next %q, %v", len(all.Nodes), all.Next, err)
	}
}

// A list is narrowed to what a word names.
func TestListOfWhatIsNamed(t *testing.T) {
	b := newFixture(t)
	for _, text := range []string{`"name":"hello"`, `"name":"sweep","array":3`} {
		read[wire.VJob](t, b.as("alice", "POST", "/v1/vjobs", `{"count":1,"template":{"cpu_milli":1,"memory_mib":1},`+text+`}`), 201)
	}
	for query, want := range map[string]string{
		"hello": "1", "1": "1", "sweep": "2 3 4", "sweep[2-3]": "3 4", "2[1]": "2", "sweep&fold=true": "2", "2&fold=true": "2", "9": "",
	} {
		list := read[wire.VJobList](t, b.as("alice", "GET", "/v1/vjobs?vjob="+query, ""), 200)
		var ids []string
		for i := range list.VJobs {
			ids = append(ids, fmt.Sprint(list.VJobs[i].ID))
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for query, status := range map[string]int{"none": 404, "hello[1]": 404, "sweep[": 400} {
		read[wire.Error](t, b.as("alice", "GET", "/v1/vjobs?vjob="+query, ""), status)
	}
	if list := read[wire.VJobList](t, b.as("bob", "GET", "/v1/vjobs?vjob=1", ""), 200); len(list.VJobs) != 0 {
		t.Errorf("bob sees %+v", list.VJobs)
	}
}

// The limit counts events of the kinds that are asked for.
func TestEventsOfAKind(t *testing.T) {
	b := newFixture(t)
	b.populate()
	list := read[wire.EventList](t, b.as("root", "GET", "/v1/events?kind=node&kind=plan&limit=2", ""), 200)
	if len(list.Events) != 2 || list.Events[0].Kind != "plan" || list.Events[1].Kind != "node" {
		t.Errorf("got %+v", list.Events)
	}
	if e := read[wire.Error](t, b.as("root", "GET", "/v1/events?kind=none", ""), 400).Error; e.Field != "kind" {
		t.Errorf("got %+v", e)
	}
	if plans := read[wire.PlanList](t, b.as("root", "GET", "/v1/plans?limit=1", ""), 200); len(plans.Plans) != 1 || plans.Next != "" {
		t.Errorf("got %+v", plans)
	}
	recommendations := read[wire.RecommendationList](t, b.as("root", "GET", "/v1/recommendations?limit=1", ""), 200)
	if recommendations.Next != "2" {
		t.Fatalf("next %q, want 2", recommendations.Next)
	}
	rest := read[wire.RecommendationList](t, b.as("root", "GET", "/v1/recommendations?limit=1&cursor=2", ""), 200)
	if len(rest.Recommendations) != 1 || rest.Recommendations[0].ID != 1 || rest.Next != "" {
		t.Errorf("got %+v", rest)
	}
}
