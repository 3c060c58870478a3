package stage_test

import "testing"

const twelve = "canary: c1 c2; early: e1 e2 e3 e4; prod: p1 p2 p3 p4 p5 p6"

// untilSettled is a change that fails in a cluster of the second stage.
func untilSettled() []row {
	return []row{
		{"10:00", "source b2", "b2: c1 c2", "Updating canary e1:Pending p1:Pending"},
		{"10:03", "healthy c1 c2", "", "Soaking canary TimedWait"},
		{"10:12", "source b3=b2", "", "Soaking canary TimedWait c1:Healthy"}, // another unit
		{"10:32:59", "", "", "Soaking canary TimedWait"},
		{"10:33", "", "b2: e1 e2", "Updating early"},
		{"10:36", "healthy e1; failed@10:35:30 e2", "b2: e3", "Updating early e1:Healthy e2:Failing e3:Released e4:Pending"},
		{"10:36:29", "", "", "Updating early"},
	}
}

// TestExample is the example of a roll-out by the strategy careful: canary 2, early 50 %, prod 2.
func TestExample(t *testing.T) {
	t.Run("it stops, and is reverted by hand", func(t *testing.T) {
		w := newWorld(t, strategies["careful"], twelve)
		w.play(append(untilSettled(),
			row{"10:36:30", "", "", "Stopped early TooManyFailed e2:Failed p1:Pending p6:Pending"},
			row{"10:40", "healthy e3", "", "Stopped early TooManyFailed"},
			row{"10:50", "source b4=a1", "a1: c1 c2 e1 e2 e3", "Done a1"},
		))
	})
	t.Run("it goes back by itself", func(t *testing.T) {
		w := newWorld(t, strategies["returns"], twelve)
		w.play(append(untilSettled(),
			row{"10:36:30", "", "a1: c1 c2 e1 e2 e3", "Stopped early KeptBack"},
			row{"11:00", "source b5=b2", "", "Stopped early KeptBack"},
			row{"12:00", "source b6", "b6: c1 c2", "Updating canary"},
		))
	})
	t.Run("a newer version comes", func(t *testing.T) {
		w := newWorld(t, strategies["careful"], twelve)
		w.play(append(untilSettled(),
			row{"10:36:30", "", "", "Stopped early TooManyFailed"},
			row{"10:50", "source b5", "b5: c1 c2", "Updating canary e2:Pending"},
			row{"10:55", "healthy c1 c2", "", "Soaking canary TimedWait"},
			row{"11:25", "", "b5: e1 e2", "Updating early e2:Released e1:Released e3:Pending"},
		))
		if w.has["e3"] != "b2" || w.has["e4"] != "a1" || w.has["p1"] != "a1" {
			t.Errorf("e3, e4 and p1 show %s, %s and %s; want b2, a1 and a1", w.has["e3"], w.has["e4"], w.has["p1"])
		}
	})
}
