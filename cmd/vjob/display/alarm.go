package display

import (
	"fmt"

	"vjob/api/wire"
)

// AlarmFacts are the facts about an alarm below its head: since when, what it is, and what to do.
func AlarmFacts(alarm *wire.Alarm) [][2]string {
	rows := [][2]string{{"since", Moment(&alarm.Since) + times(alarm.Count)}}
	if alarm.Ended != nil {
		rows = append(rows, [2]string{"ended", Moment(alarm.Ended)})
	}
	rows = append(rows, [2]string{"what", alarm.Text})
	if alarm.Ended == nil {
		rows = append(rows, [2]string{"next", alarm.Next})
	}
	if alarm.AckedBy != "" {
		by := fmt.Sprintf("by %s at %s", alarm.AckedBy, Moment(alarm.AckedAt))
		if alarm.Comment != "" {
			by += ": " + alarm.Comment
		}
		rows = append(rows, [2]string{"acknowledged", by})
	}
	return rows
}

func times(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(", raised %d times", n)
}
