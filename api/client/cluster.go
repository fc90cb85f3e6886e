package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"vjob/api/wire"
)

// nodesAtOnce is how many nodes a page has.
const nodesAtOnce = 5000

// Nodes lists all nodes; it reads them page by page.
func (c *clusterClient) Nodes(ctx context.Context) (wire.NodeList, error) {
	query := url.Values{"limit": {strconv.Itoa(nodesAtOnce)}}
	list, err := get[wire.NodeList](ctx, c.connection, "/v1/nodes", query)
	for err == nil && list.Next != "" {
		query.Set("cursor", list.Next)
		var page wire.NodeList
		page, err = get[wire.NodeList](ctx, c.connection, "/v1/nodes", query)
		list.Nodes, list.Next = append(list.Nodes, page.Nodes...), page.Next
	}
	return list, err
}

// Node returns one node in full. An unknown node is ErrNotFound.
func (c *clusterClient) Node(ctx context.Context, name string) (wire.NodeDetail, error) {
	return get[wire.NodeDetail](ctx, c.connection, nodePath(name), nil)
}

func nodePath(name string) string { return "/v1/nodes/" + url.PathEscape(name) }

// SetNodes asks for another state of some nodes, of all or none (administrators).
func (c *clusterClient) SetNodes(ctx context.Context, change wire.NodesChange) error {
	_, err := c.call(ctx, request{method: http.MethodPatch, path: "/v1/nodes", body: change, repeatable: true}, nil)
	return err
}

// SetPower switches a node off, once it is empty, or on (administrators).
func (c *clusterClient) SetPower(ctx context.Context, name string, change wire.PowerChange) error {
	_, err := c.call(ctx, request{method: http.MethodPost, path: nodePath(name) + "/power", body: change, repeatable: true}, nil)
	return err
}

// Drain has everything moved off a node (administrators).
func (c *clusterClient) Drain(ctx context.Context, name string) error {
	_, err := c.call(ctx, request{method: http.MethodPost, path: nodePath(name) + "/drain", repeatable: true}, nil)
	return err
}

// Online lets a node take VMs again (administrators).
func (c *clusterClient) Online(ctx context.Context, name string) error {
	_, err := c.call(ctx, request{method: http.MethodPost, path: nodePath(name) + "/online", repeatable: true}, nil)
	return err
}

// Rules are the placement rules of the cluster (administrators).
func (c *clusterClient) Rules(ctx context.Context) (wire.Rules, error) {
	return get[wire.Rules](ctx, c.connection, "/v1/rules", nil)
}

// SetRules replaces or checks them (administrators).
func (c *clusterClient) SetRules(ctx context.Context, change wire.RulesChange) error {
	_, err := c.call(ctx, request{method: http.MethodPut, path: "/v1/rules", body: change, repeatable: true}, nil)
	return err
}

// Recommendations lists those of a kind and in a state, "" for all, the newest first (administrators).
func (c *clusterClient) Recommendations(ctx context.Context, kind, state string, limit int) (wire.RecommendationList, error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	for key, value := range map[string]string{"kind": kind, "state": state} {
		if value != "" {
			query.Set(key, value)
		}
	}
	return get[wire.RecommendationList](ctx, c.connection, "/v1/recommendations", query)
}

func recommendationPath(id int64) string {
	return "/v1/recommendations/" + strconv.FormatInt(id, 10)
}

// Recommendation is one of them (administrators).
func (c *clusterClient) Recommendation(ctx context.Context, id int64) (wire.Recommendation, error) {
	return get[wire.Recommendation](ctx, c.connection, recommendationPath(id), nil)
}

// Approve approves a recommendation (administrators).
func (c *clusterClient) Approve(ctx context.Context, id int64) (r wire.Recommendation, err error) {
	_, err = c.call(ctx, request{method: http.MethodPost, path: recommendationPath(id) + "/approve"}, &r)
	return r, err
}

// Reject rejects a recommendation (administrators).
func (c *clusterClient) Reject(ctx context.Context, id int64, why string) (r wire.Recommendation, err error) {
	_, err = c.call(ctx, request{method: http.MethodPost, path: recommendationPath(id) + "/reject", body: wire.Rejection{Why: why}}, &r)
	return r, err
}

// Balance is the load of the nodes, and what holds VMs on crowded ones (administrators).
func (c *clusterClient) Balance(ctx context.Context) (wire.Balance, error) {
	return get[wire.Balance](ctx, c.connection, "/v1/balance", nil)
}

// Orphans are the saved VMs that no vjob is saved in (administrators).
func (c *clusterClient) Orphans(ctx context.Context) (wire.OrphanList, error) {
	return get[wire.OrphanList](ctx, c.connection, "/v1/images/orphans", nil)
}

// DeleteOrphan deletes one of them (administrators).
func (c *clusterClient) DeleteOrphan(ctx context.Context, image string) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: "/v1/images/orphans/" + url.PathEscape(image)}, nil)
	return err
}

// Status is what a live view needs, in one call.
func (c *clusterClient) Status(ctx context.Context) (wire.Status, error) {
	return get[wire.Status](ctx, c.connection, "/v1/status", nil)
}

// Images is the administrator's catalogue.
func (c *clusterClient) Images(ctx context.Context) (wire.ImageList, error) {
	return get[wire.ImageList](ctx, c.connection, "/v1/images", nil)
}

// Queues lists the queues and how many vjobs are in them.
func (c *clusterClient) Queues(ctx context.Context) (wire.QueueList, error) {
	return get[wire.QueueList](ctx, c.connection, "/v1/queues", nil)
}

// Quotas lists the quotas that concern the caller, as they stand now.
func (c *clusterClient) Quotas(ctx context.Context) (wire.QuotaList, error) {
	return get[wire.QuotaList](ctx, c.connection, "/v1/quotas", nil)
}

// Shares lists the share and the recent usage of each account.
func (c *clusterClient) Shares(ctx context.Context) (wire.ShareList, error) {
	return get[wire.ShareList](ctx, c.connection, "/v1/shares", nil)
}
