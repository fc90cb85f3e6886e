package notify

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"vjob/cluster"

	"golang.org/x/time/rate"
)

// Bounds of what goes at once and of what waits.
const (
	together = 16   // attempts under way
	perOwner = 4    // of these for one owner
	perHost  = 2    // of these at one host
	most     = 5000 // letters that wait
	trip     = 3    // attempts that fail in a row before a queue is closed
)

// Rates are how many attempts the vjobs of one owner may make in an hour, and as many at
// once. 0 is no limit.
type Rates struct {
	Mails, Calls int
}

// route is the way that the letters of a queue take.
type route struct {
	owner string
	host  string // "" is the mail server
}

// queue is the letters of one owner to one host. Each has a circuit breaker of its own, so
// that what one user gets wrong does not silence a host for others.
type queue struct {
	route
	letters  []*letter
	flying   int       // attempts under way
	turn     uint64    // of the last attempt
	fails    int       // attempts in a row that failed
	until    time.Time // closed so long
	reported bool      // the owner knows of trouble
}

// due is the letter that is tried next, of those that were tried least the oldest, or nil.
func (q *queue) due(now time.Time) (best *letter) {
	for _, l := range q.letters {
		if l.ready(now) && (best == nil || l.Tries < best.Tries) {
			best = l
		}
	}
	return best
}

// attempt is letters on their way: one, or those that go as one mail.
type attempt struct {
	queue   *queue
	letters []*letter
}

// message is what is delivered.
func (a *attempt) message() Message {
	if len(a.letters) == 1 {
		return a.letters[0].message()
	}
	list := make([]Message, len(a.letters))
	for i, l := range a.letters {
		list[i] = l.message()
	}
	return bundle(list)
}

// trouble is what is reported to the owner of a queue.
type trouble struct {
	letter *letter
	text   string
}

// outbox is the letters that wait. Owners take turns, and the hosts of each owner do. It
// decides what goes next; time is an argument.
type outbox struct {
	rates    Rates
	queues   []*queue
	attempts []*attempt // under way
	turns    uint64
	buckets  map[bucketKey]*rate.Limiter
	troubles []trouble // to be reported
}

// bucketKey names what a rate is counted for.
type bucketKey struct {
	owner string
	mail  bool
}

// size is how many letters wait.
func (o *outbox) size() (n int) {
	for _, q := range o.queues {
		n += len(q.letters)
	}
	return n
}

// add takes a letter. Where there are too many, the owner with the most loses the oldest.
func (o *outbox) add(l *letter) {
	if o.size() >= most {
		o.displace()
	}
	at := route{l.Message.Owner, ""}
	if l.to.URL != nil {
		at.host = strings.ToLower(l.to.URL.Hostname())
	}
	i := slices.IndexFunc(o.queues, func(q *queue) bool { return q.route == at })
	if i < 0 {
		i = len(o.queues)
		o.queues = append(o.queues, &queue{route: at})
	}
	o.queues[i].letters = append(o.queues[i].letters, l)
}

// displace drops the oldest letter of the owner with the most.
func (o *outbox) displace() {
	count := map[string]int{}
	for _, q := range o.queues {
		count[q.owner] += len(q.letters)
	}
	var from *queue
	var oldest *letter
	for _, q := range o.queues {
		for _, l := range q.letters {
			if !l.flying && (oldest == nil || cmp.Or(cmp.Compare(count[from.owner], count[q.owner]), l.Since.Compare(oldest.Since)) < 0) {
				from, oldest = q, l
			}
		}
	}
	if oldest != nil {
		o.report(from, oldest, "too many notifications wait: the oldest are dropped")
		from.remove(oldest)
	}
}

func (q *queue) remove(gone ...*letter) {
	q.letters = slices.DeleteFunc(q.letters, func(l *letter) bool { return slices.Contains(gone, l) })
}

// report notes trouble for the owner of a queue, once until something is delivered again.
func (o *outbox) report(q *queue, l *letter, text string) {
	if !q.reported {
		q.reported = true
		o.troubles = append(o.troubles, trouble{l, text})
	}
}

// expire drops what has waited for too long, and forgets what is of no use any more.
func (o *outbox) expire(now time.Time) (dropped int) {
	for _, q := range o.queues {
		for _, l := range slices.Clone(q.letters) {
			if !l.flying && now.Sub(l.Since) >= maxAge {
				o.report(q, l, "notifications that waited for a day are dropped")
				q.remove(l)
				dropped++
			}
		}
	}
	o.queues = slices.DeleteFunc(o.queues, func(q *queue) bool { return len(q.letters) == 0 })
	for key, b := range o.buckets {
		if b.TokensAt(now) >= float64(b.Burst()) {
			delete(o.buckets, key)
		}
	}
	return dropped
}

// bucket is what the owner of a queue may send; nil is as much as there is.
func (o *outbox) bucket(q *queue) *rate.Limiter {
	key, perHour := bucketKey{q.owner, q.host == ""}, o.rates.Calls
	if key.mail {
		perHour = o.rates.Mails
	}
	if perHour == 0 {
		return nil
	}
	if o.buckets[key] == nil {
		if o.buckets == nil {
			o.buckets = map[bucketKey]*rate.Limiter{}
		}
		o.buckets[key] = rate.NewLimiter(rate.Limit(float64(perHour)/time.Hour.Seconds()), perHour)
	}
	return o.buckets[key]
}

// tokens is how many messages may go now.
func tokens(b *rate.Limiter, now time.Time) int {
	if b == nil {
		return math.MaxInt
	}
	return int(b.TokensAt(now))
}

// busy reports whether as many attempts are under way as a queue, its owner and its host
// may have. A queue that is closed has one at a time when its pause is over.
func (o *outbox) busy(q *queue) bool {
	owner, host := 0, 0
	for _, a := range o.attempts {
		if a.queue.owner == q.owner {
			owner++
		}
		if a.queue.host == q.host {
			host++
		}
	}
	return len(o.attempts) >= together || owner >= perOwner || host >= perHost || q.fails >= trip && q.flying > 0
}

// take begins the next attempt, or returns nil.
func (o *outbox) take(now time.Time) *attempt {
	turns := map[string]uint64{} // of owners
	for _, q := range o.queues {
		turns[q.owner] = max(turns[q.owner], q.turn)
	}
	var next *queue
	for _, q := range o.queues {
		if q.until.After(now) || o.busy(q) || q.due(now) == nil || tokens(o.bucket(q), now) < 1 {
			continue
		}
		if next == nil || cmp.Or(cmp.Compare(turns[q.owner], turns[next.owner]), cmp.Compare(q.turn, next.turn)) < 0 {
			next = q
		}
	}
	if next == nil {
		return nil
	}
	a := &attempt{next, o.together(next, now)}
	if b := o.bucket(next); b != nil {
		b.AllowN(now, 1)
	}
	for _, l := range a.letters {
		l.flying = true
	}
	o.turns++
	next.turn = o.turns
	next.flying++
	o.attempts = append(o.attempts, a)
	return a
}

// together is the letters that go next: one, or if more mails wait than the owner may send
// now, all to the same address.
func (o *outbox) together(q *queue, now time.Time) []*letter {
	first := q.due(now)
	ready := slices.DeleteFunc(slices.Clone(q.letters), func(l *letter) bool { return !l.ready(now) })
	if q.host != "" || len(ready) <= tokens(o.bucket(q), now) {
		return []*letter{first}
	}
	return slices.DeleteFunc(ready, func(l *letter) bool { return l.to.Mail != first.to.Mail })
}

// cancel ends an attempt as if it had never begun.
func (o *outbox) cancel(a *attempt) {
	o.attempts = slices.DeleteFunc(o.attempts, func(b *attempt) bool { return a == b })
	a.queue.flying--
	for _, l := range a.letters {
		l.flying = false
	}
}

// settle takes in what became of an attempt. final: no further one is made.
func (o *outbox) settle(a *attempt, now time.Time, err error, final bool) {
	o.cancel(a)
	q := a.queue
	switch {
	case err == nil:
		q.fails, q.until, q.reported = 0, time.Time{}, false
		q.remove(a.letters...)
		return
	case final:
		q.remove(a.letters...)
		return
	}
	for _, l := range a.letters {
		l.Tries++
		l.Next = now.Add(Pause(l.Tries))
	}
	q.fails++
	if q.fails >= trip {
		q.until = now.Add(Pause(q.fails - trip + 1))
		o.report(q, a.letters[0], "notifications are not delivered, and tried for a day: "+err.Error())
	}
}

// next is when something that waits may go, but for what waits for attempts under way; ok
// is false when there is nothing.
func (o *outbox) next(now time.Time) (at time.Time, ok bool) {
	for _, q := range o.queues {
		if o.busy(q) {
			continue
		}
		open := q.until
		if b := o.bucket(q); b != nil {
			if missing := 1 - b.TokensAt(now); missing > 0 {
				open = cluster.Later(open, now.Add(time.Duration(missing/float64(b.Limit())*float64(time.Second))+time.Millisecond))
			}
		}
		for _, l := range q.letters {
			if l.flying {
				continue
			}
			if may := cluster.Later(open, l.Next); !ok || may.Before(at) {
				at, ok = may, true
			}
		}
	}
	return at, ok
}
