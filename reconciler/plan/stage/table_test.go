package stage_test

import "testing"

const four = "canary: c1; prod: p1 p2 p3"

// scenario is rows that happen to a fleet by a strategy.
type scenario struct {
	name, strategy, stages string
	rows                   []row
}

func playAll(t *testing.T, all []scenario) {
	t.Helper()
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) { newWorld(t, strategies[s.strategy], s.stages).play(s.rows) })
	}
}

// TestPhases has a row of the table of phases in each case.
func TestPhases(t *testing.T) {
	playAll(t, []scenario{
		{"Done, and the digest changes and bytes differ somewhere", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", "Updating canary c1:Released p1:Pending"},
		}},
		{"Done, and the digest changes and no bytes differ", "simple", four, []row{
			{"10:00", "same b2 c1 a1; same b2 p1 a1; same b2 p2 a1; same b2 p3 a1; source b2", "", "Done b2"},
		}},
		{"Waiting for an approval before the stage", "asked", four, []row{
			{"10:00", "source b2", "b2: c1", "Updating canary"},
			{"10:01", "healthy c1", "", "Soaking canary TimedWait"},
			{"10:02", "approve canary", "", "Soaking canary TimedWait"}, // side by side with the time
			{"10:11", "", "", "Waiting prod ApprovalMissing"},
			{"10:12", "approve canary", "", "Waiting prod ApprovalMissing"},
			{"10:13", "approve prod", "b2: p1 p2", "Updating prod"},
		}},
		{"Waiting for a window", "simple", four, []row{
			{"10:00", "closed canary 11:00; source b2", "", "Waiting canary WindowClosed"},
			{"11:00", "open canary", "b2: c1", "Updating canary"},
		}},
		{"Waiting for clusters that are suspended", "simple", four, []row{
			{"10:00", "suspend c1; source b2", "", "Waiting canary ClustersSuspended c1:Suspended"},
			{"11:00", "-suspend c1", "b2: c1", "Updating canary"},
		}},
		{"Updating, and a cluster is healthy, and the last one is", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", "Updating canary"},
			{"10:01", "healthy c1", "b2: p1 p2", "Updating prod c1:Healthy"},
			{"10:02", "healthy p2", "b2: p3", "Updating prod p2:Healthy p3:Released"},
			{"10:03", "healthy p1 p3", "", "Done b2"},
		}},
		{"Updating, and a failure is tolerated", "careful", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "healthy c1 c2", "", ""},
			{"10:31", "", "b2: e1 e2", ""},
			{"10:32", "healthy e1 e2", "b2: e3 e4", ""},
			{"10:33", "healthy e3 e4", "b2: p1 p2", "Updating prod"},
			{"10:34", "failed p1", "", "Updating prod p1:Failing"},
			{"10:35", "", "b2: p3", "Updating prod p1:Failed p3:Released"}, // it counts as finished
			{"10:54", "healthy p2 p3", "b2: p4 p5", "Updating prod p1:Failed"},
			{"11:14", "", "", "Stopped prod TooManyFailed p4:Failed p5:Failed"}, // by the deadline of 20 minutes
		}},
		{"Updating, and a stage that is over fails", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", ""},
			{"10:02", "failed c1", "", "Updating prod c1:Failing"},
			{"10:03", "", "", "Stopped prod TooManyFailed c1:Failed"},
			{"10:04", "healthy p1 p2", "", "Stopped prod TooManyFailed"},
		}},
		{"Updating, and failures go back", "returns", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "failed c1", "", ""},
			{"10:02", "", "a1: c1 c2", "Stopped canary KeptBack"},
		}},
		{"Updating, and the window closes", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", ""},
			{"10:02", "closed prod 12:00; healthy p1", "", "Updating prod WindowClosed p1:Healthy p2:Released p3:Pending"},
			{"10:03", "healthy p2", "", "Updating prod WindowClosed p2:Healthy"},
			{"12:00", "open prod", "b2: p3", "Updating prod"},
		}},
		{"Updating, and a cluster is held", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "hold p1; healthy c1", "b2: p2 p3", "Updating prod ClusterHeld p1:Pending"},
			{"10:02", "healthy p2 p3", "", "Updating prod ClusterHeld"},
			{"10:03", "-hold p1", "b2: p1", "Updating prod"},
		}},
		{"Updating the last stage, and one that was late has to wait for another of its stage", "simple", "canary: c1 c2; prod: p1", []row{
			{"10:00", "silent c1; source b2", "b2: c2", "Updating canary c1:Late c2:Released"},
			{"10:01", "healthy c2", "b2: p1", "Updating prod"},
			{"10:02", "progressing c2", "", "Updating prod c2:Released"},
			{"10:03", "healthy c1", "", "Updating prod c1:Pending"},
			{"10:04", "healthy p1", "", "Updating prod NotHealthy c1:Pending p1:Healthy"},
			{"10:05", "healthy c2", "b2: c1", "Done b2 c1:Released"},
		}},
		{"Updating the last stage, and no window lets one that was late have its turn", "simple", "canary: c1 c2; prod: p1", []row{
			{"10:00", "silent c1; source b2", "b2: c2", ""},
			{"10:01", "healthy c2", "b2: p1", ""},
			{"10:02", "closed canary 12:00; progressing c2; healthy c1", "", "Updating prod c1:Pending c2:Released"},
			{"10:03", "healthy p1", "", "Done b2 c1:Pending"},
		}},
		{"Updating the last stage, and one comes to a stage that was skipped", "three", "canary: c1; early: e1; prod: p1 p2 p3", []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "skip early; healthy c1", "b2: p1 p2", "Updating prod e1:Skipped"},
			{"10:02", "relabel p1 early; relabel p3 early", "", "Updating prod p1:Released p3:Pending"},
			{"10:03", "healthy p2", "", "Done b2 p3:Pending"},
		}},
		{"Updating, and all are late", "simple", four, []row{
			{"10:00", "silent c1; source b2", "", "Updating canary NoneAnswers c1:Late"},
			{"10:19", "", "", "Updating canary NoneAnswers"},
			{"10:20", "", "", "Stopped canary NoneHealthy"},
			{"10:21", "resume", "", "Updating canary NoneAnswers"}, // its time begins anew
			{"10:40", "", "", "Updating canary NoneAnswers"},
			{"10:41", "", "", "Stopped canary NoneHealthy"},
		}},
		{"Soaking, and a cluster turns bad, and recovers", "careful", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "healthy c1 c2", "", "Soaking canary TimedWait"},
			{"10:20", "failed c1", "", "Soaking canary NotHealthy c1:Failing"},
			{"10:20:59", "healthy c1", "", "Soaking canary TimedWait c1:Healthy"},
			{"10:31", "", "", "Soaking canary TimedWait"},
			{"10:50:58", "", "", "Soaking canary TimedWait"},
			{"10:50:59", "", "b2: e1 e2", "Updating early"},
		}},
		{"Soaking, and evidence is overdue", "careful", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "healthy c1 c2", "", "Soaking canary TimedWait"},
			{"10:30", "silent c1", "", "Soaking canary TimedWait c1:Healthy"},
			{"10:31", "", "", "Soaking canary NotHealthy"},
			{"10:32", "healthy c1", "b2: e1 e2", "Updating early"},
		}},
		{"Soaking, and not every change of health is told", "asked", four, []row{
			{"10:00", "posted c1; source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "", "Soaking canary TimedWait"},
			{"10:20:59", "", "", "Soaking canary TimedWait"}, // though the stage waits for 10 minutes
			{"10:21", "", "", "Approving canary ApprovalMissing"},
		}},
		{"Updating, and whoever says that a cluster failed tries again", "simple", four, []row{
			{"10:00", "posted c1; source b2", "b2: c1", ""},
			{"10:01", "failed c1", "", "Updating canary c1:Failing"},
			{"10:02:59", "", "", "Updating canary c1:Failing"}, // though the stage settles in a minute
			{"10:03", "", "", "Stopped canary TooManyFailed c1:Failed"},
		}},
		{"Approving, and somebody approves", "asked", "canary: c1; prod: p1", []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "", "Soaking canary TimedWait"},
			{"10:11", "", "", "Approving canary ApprovalMissing"},
			{"10:12", "approve@other canary", "", "Approving canary ApprovalMissing"},
			{"10:13", "approve prod", "", "Approving canary ApprovalMissing"}, // of another stage
			{"10:14", "approve canary", "", "Waiting prod ApprovalMissing"},
			{"10:15", "approve prod", "b2: p1", "Updating prod"},
			{"10:16", "healthy p1", "", "Done b2"},
		}},
		{"Approving, and a cluster turns bad", "asked", "canary: c1; prod: p1", []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "", "Soaking canary TimedWait"},
			{"10:11", "", "", "Approving canary ApprovalMissing"},
			{"10:12", "progressing c1", "", "Soaking canary NotHealthy c1:Released"},
			{"10:13", "approve canary", "", "Soaking canary NotHealthy"},
			{"10:14", "healthy c1", "", "Waiting prod ApprovalMissing"},
		}},
		{"Approving, and somebody rejects", "asked", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "", ""},
			{"10:11", "", "", "Approving canary ApprovalMissing"},
			{"10:12", "stop", "", "Stopped canary Commanded"},
			{"10:13", "resume", "", "Approving canary ApprovalMissing"},
		}},
		{"open, and the source says the base again", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", ""},
			{"10:02", "source b3=a1; closed prod 12:00", "a1: c1 p1 p2", "Done a1"},
		}},
		{"open, nothing released, and the source says the base again", "simple", four, []row{
			{"10:00", "closed canary 12:00; source b2", "", "Waiting canary WindowClosed"},
			{"10:01", "source b3=a1", "", "Done a1"},
		}},
		{"open, and return is commanded", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", ""},
			{"10:02", "return", "a1: c1 p1 p2", "Stopped prod KeptBack"},
			{"10:03", "source b3=b2", "", "Stopped prod KeptBack"},
			{"10:04", "source b4=a1", "", "Done a1"},
		}},
		{"Returning waits until all is published", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "hold c1; return", "", "Returning canary Commanded"},
			{"10:02", "-hold c1", "a1: c1", "Stopped canary KeptBack"},
		}},
		{"kept back, and resumed", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "return", "a1: c1", "Stopped canary KeptBack"},
			{"10:02", "resume", "b2: c1", "Updating canary"},
		}},
		{"kept back, and resumed where the next cluster does not answer", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "return", "a1: c1", "Stopped canary KeptBack"},
			{"10:02", "silent c1; resume", "", "Updating canary NoneAnswers c1:Late"},
		}},
		{"done, and reverted: that is a change like any other", "simple", four, []row{
			{"10:00", "source b2; bypass@trailer", "b2: c1 p1 p2 p3", "Done b2"},
			{"10:01", "source b3=a1", "a1: c1", "Updating canary"},
		}},
		{"half of five at once", "half", "all: a b c d e", []row{
			{"10:00", "source b2", "b2: a b", "Updating all"},
			{"10:01", "healthy a", "b2: c", "Updating all"},
		}},
		{"a tenth of five at once", "tenth", "all: a b c d e", []row{
			{"10:00", "source b2", "b2: a", "Updating all"},
		}},
		{"a fifth of five may fail", "half", "all: a b c d e", []row{
			{"10:00", "source b2", "b2: a b", ""},
			{"10:01", "failed a", "", ""},
			{"10:02", "failed b", "b2: c", "Updating all a:Failed"},
			{"10:03", "healthy c", "", "Stopped all TooManyFailed"},
		}},
		{"open, and a newer digest restarts", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", ""},
			{"10:02", "source b3", "b3: c1", "Updating canary p1:Pending"},
			{"10:03", "healthy c1", "b3: p1 p2", "Updating prod"},
			{"10:04", "source b4=a1", "a1: c1 p1 p2", "Done a1"}, // the base is that of the first run
		}},
		{"open, and a newer digest waits", "queued", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "source b3; healthy c1", "b2: p1 p2", "Updating prod"},
			{"10:02", "source b4; healthy p1 p2", "b2: p3", "Updating prod"},
			{"10:03", "healthy p3", "b4: c1", "Updating canary"},
			{"10:04", "healthy c1", "b4: p1 p2", "Updating prod"},
			{"10:05", "healthy p1 p2", "b4: p3", ""},
			{"10:06", "healthy p3", "", "Done b4"},
		}},
		{"open, and what its commit was is not to be had any more, so that nothing waits", "queued", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", "Updating prod"},
			{"10:02", "source b2=b3", "b3: c1", "Updating canary p1:Pending"},
		}},
		{"kept back, and a newer digest comes that waits for nothing", "queued", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "return", "a1: c1", "Stopped canary KeptBack"},
			{"10:02", "source b3", "b3: c1", "Updating canary"},
		}},
		{"kept back, and a newer digest has come that waits for nothing", "queued", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "source b3", "", "Updating canary"},
			{"10:02", "return", "a1: c1; b3: c1", "Updating canary"},
		}},
		{"stopped and resumed: what failed so far is forgiven", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", ""},
			{"10:02", "failed p1", "", ""},
			{"10:03", "healthy p2", "", "Stopped prod TooManyFailed p1:Failed p2:Healthy"},
			{"10:04", "resume", "b2: p3", "Updating prod p1:Failed p3:Released"},
			{"10:05", "healthy p1; failed p3", "", "Updating prod p1:Healthy p3:Failing"},
			{"10:06", "healthy p3; failed p1", "", "Updating prod p1:Failing"},
			{"10:07", "", "", "Stopped prod TooManyFailed p1:Failed"}, // it failed again
		}},
		{"a cluster is skipped", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", ""},
			{"10:02", "skip p3; healthy p1 p2", "", "Done b2 p3:Skipped"},
			{"10:03", "healthy p3", "", "Done b2 p3:Skipped"},
			{"10:04", "source b3", "b3: c1", "Updating canary p3:Pending"},
		}},
		{"a held cluster is skipped, and keeps what it has", "simple", four, []row{
			{"10:00", "source b2; missed c1", "", "Updating canary"},
			{"10:01", "hold c1", "", "Updating canary ClusterHeld c1:Released"},
			{"10:02", "skip c1", "b2: p1 p2", "Updating prod c1:Skipped c1=a1"},
			{"10:03", "-hold c1; healthy p1 p2", "b2: p3", ""},
			{"10:04", "healthy p3", "", "Done b2 c1:Skipped c1=a1"},
		}},
		{"a stage is skipped", "three", "canary: c1; early: e1; prod: p1", []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "skip early; skip canary", "b2: p1", "Updating prod c1:Released e1:Skipped"},
			{"10:02", "healthy c1 p1", "", "Done b2 e1:Skipped"},
		}},
		{"bypass", "simple", four, []row{
			{"10:00", "silent p3; hold p2; source b2; bypass@trailer", "b2: c1 p1 p3", "Finishing Bypassed"},
			{"10:01", "-hold p2", "b2: p2", "Done b2"},
		}},
		{"bypass of a run that stopped", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "stop", "", "Stopped canary Commanded"},
			{"10:02", "bypass", "b2: p1 p2 p3", "Done b2"},
		}},
		{"stopped, and a failed cluster recovers", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "failed c1", "", ""},
			{"10:02", "", "", "Stopped canary TooManyFailed c1:Failed"},
			{"10:03", "healthy c1", "", "Stopped canary TooManyFailed c1:Healthy"},
			{"10:04", "resume", "b2: p1 p2", "Updating prod"},
		}},
		{"the unit leaves a cluster last", "simple", four, []row{
			{"10:00", "drops b2 c1; source b2", "b2: p1 p2", "Updating prod c1:Leaving"},
			{"10:01", "healthy p1 p2", "b2: p3", "Updating prod"},
			{"10:02", "healthy p3", ": c1", "Done b2"},
		}},
		{"the unit is removed", "simple", four, []row{
			{"10:00", "absent b2", ": c1", "Updating canary"},
			{"10:01", "healthy c1", ": p1 p2", "Updating prod"},
			{"10:02", "healthy p1 p2", ": p3", ""},
			{"10:03", "healthy p3", "", "Done forgotten"},
		}},
		{"a unit is delivered first", "simple", four, []row{
			{"09:59", "absent b2; bypass@trailer", ": c1 p1 p2 p3", "Done forgotten"},
			{"10:00", "source b3", "b3: c1", "Updating canary p1:Pending"},
			{"10:01", "return", ": c1", "Stopped canary KeptBack"},
		}},
	})
}
