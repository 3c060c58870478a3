package stage_test

import "testing"

// TestWhatSequencesFound has what random sequences of test/stagemodel and test/walk found to be wrong once: each row of it, as short as it can be told.
func TestWhatSequencesFound(t *testing.T) {
	playAll(t, []scenario{
		{"a failure that is tolerated recovers while its stage waits: the time begins again", "tolerant", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "healthy c1; failed c2", "", "Updating canary c2:Failing"},
			{"10:02", "", "", "Soaking canary TimedWait c2:Failed"},
			{"10:20", "healthy c2", "", "Soaking canary TimedWait c2:Healthy"},
			{"10:49:59", "", "", "Soaking canary TimedWait"},
			{"10:50", "", "b2: e1 e2", "Updating early"},
		}},
		{"a failure that is forgiven recovers while its stage waits: the time begins again", "careful", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "healthy c1; failed c2", "", ""},
			{"10:02", "", "", "Stopped canary TooManyFailed"},
			{"10:03", "resume", "", "Soaking canary TimedWait c2:Failed"},
			{"10:20", "healthy c2", "", "Soaking canary TimedWait c2:Healthy"},
			{"10:49:59", "", "", "Soaking canary TimedWait"},
			{"10:50", "", "b2: e1 e2", "Updating early"},
		}},
		{"the only healthy cluster of a stage is skipped: it is healthy still", "tolerant", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "healthy c1; failed c2", "", ""},
			{"10:02", "skip c1", "", "Soaking canary TimedWait c1:Skipped c2:Failed"},
		}},
		{"what did not come to a branch before a stop is not late while the run is stopped, and has all of its time after it", "simple", four, []row{
			{"10:00", "source b2; missed c1", "", "Updating canary c1:Released"},
			{"10:01", "stop", "", "Stopped canary Commanded"},
			{"10:40", "", "", "Stopped canary Commanded c1:Released"},
			{"10:41", "resume", "b2: c1", "Updating canary c1:Released"},
			{"11:00:59", "", "", "Updating canary c1:Released"},
			{"11:01", "", "", "Stopped canary TooManyFailed c1:Failed"},
		}},
		{"one comes to a stage that was skipped before the stages before it are over", "three", "canary: c1; early: e1; prod: p1 p2", []row{
			{"10:00", "source b2", "b2: c1", "Updating canary"},
			{"10:01", "skip early", "", "Updating canary e1:Skipped"},
			{"10:02", "relabel p1 early", "", "Updating canary p1:Pending"},
		}},
		{"one joins a stage that is over, and one catches up: no more than its width at once", "simple", "canary: c1 c2; prod: p1", []row{
			{"10:00", "suspend c2; source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1", "Updating prod c2:Suspended"},
			{"10:02", "join c3 canary; -suspend c2", "b2: c3", "Updating prod c3:Released"},
			{"10:03", "healthy c3", "b2: c2", "Updating prod c2:Released"},
		}},
		{"the source reverts while the run goes back: clusters show the commit that is the base now", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "hold c1; return", "", "Returning canary Commanded"},
			{"10:02", "source b3=a1", "", "Returning canary Commanded c1=b3"},
			{"10:03", "-hold c1", "a1: c1", "Done a1"},
		}},
		{"nothing changes by a newer version, and one shows the version before that is not healthy yet: it shows the newer one", "simple", four, []row{
			{"10:00", "silent p1; source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p2 p3", ""},
			{"10:02", "healthy p2 p3", "", "Done b2 p1:Late"},
			{"10:03", "progressing p1", "b2: p1", "Done b2 p1:Released p1=b2"},
			{"10:04", "same b3 c1 b2; same b3 p1 b2; same b3 p2 b2; same b3 p3 b2; source b3", "", "Done b3 p1:Released p1=b3"},
		}},
		{"the strategy of a unit is nowhere any more: what is recorded stays", "simple", four, []row{
			{"10:00", "strategy ; refused no strategy has this name", "", "Done a1"},
			{"10:01", "strategy simple; refused ; source b2", "b2: c1", "Updating canary"},
		}},
		{"one that the change leaves is lost, and what it has stays on its branch: the run ends without it", "simple", four, []row{
			{"10:00", "drops b2 p3; source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", ""},
			{"10:02", "silent p3; hold p3; healthy p1 p2", "", "Done b2"},
		}},
		{"one joins while all is taken away: it has nothing to lose, and nobody waits for it", "three", "canary: c1; early: e1; prod: p1 p2", []row{
			{"10:00", "absent b2", ": c1", "Updating canary"},
			{"10:01", "join p3 prod", "", "Updating canary p3:Unchanged"},
			{"10:02", "return", "a1: c1 p3", "Stopped canary KeptBack"},
		}},
		{"one that was skipped has nothing, and a newer version sends it nothing: the run goes on for it no longer", "simple", four, []row{
			{"10:00", "join p4 prod; hold p4; source b2", "b2: c1", "Updating canary p4:Pending"},
			{"10:01", "skip p4; healthy c1", "b2: p1 p2", ""},
			{"10:02", "healthy p1 p2", "b2: p3", ""},
			{"10:03", "healthy p3", "", "Done b2 p4:Skipped"},
			{"10:04", "drops b3 p4; same b3 c1 b2; same b3 p1 b2; same b3 p2 b2; same b3 p3 b2; source b3", "", "Done b3 p4:"},
		}},
		{"one that was skipped has nothing, and all is taken away: it has nothing to lose, and nobody waits for it", "simple", four, []row{
			{"10:00", "join p4 prod; hold p4; source b2", "b2: c1", "Updating canary p4:Pending"},
			{"10:01", "skip p4; healthy c1", "b2: p1 p2", ""},
			{"10:02", "healthy p1 p2", "b2: p3", ""},
			{"10:03", "healthy p3", "", "Done b2 p4:Skipped"},
			{"10:04", "-hold p4; absent b3", ": c1", "Updating canary p4:Unchanged"},
		}},
		{"one that was to lose all gets the share of one that is lost, and has it: it is released at once, and not by the next plan", "simple", four, []row{
			{"10:00", "drops b2 p3; source b2", "b2: c1", "Updating canary p3:Leaving"},
			{"10:01", "edited p3; same b2 p3 x9; drops b2", "", "Updating canary p3:Released"},
		}},
		{"files of one are edited, and it is skipped while all is taken away: it shows the base, by which is known what it has", "simple", four, []row{
			{"10:00", "absent b2; missed c1", "", "Updating canary c1:Released"},
			{"10:01", "hold c1; edited c1", "", "Updating canary ClusterHeld"},
			{"10:02", "skip c1", ": p1 p2", "Updating prod c1:Skipped c1=a1"},
		}},
		{"what one said of a version before that came to it for the second time says nothing of it, also when a newer version began a run meanwhile", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", ""},
			{"10:02", "source a1", "a1: c1 p1 p2", "Done a1"},
			{"10:03", "source b2", "b2: c1", "Updating canary c1:Released"},
			{"10:04", "closed canary 12:00; source b3", "", "Waiting canary WindowClosed c1:Pending"},
			{"10:05", "source b2", "", "Waiting canary WindowClosed c1:Released"},
		}},
		{"one that a bypassed run has still to leave is skipped: it is remembered which version it has", "simple", four, []row{
			{"10:00", "drops b2 p2; source b2", "b2: c1", ""},
			{"10:01", "hold p2; bypass", "b2: p1 p3", "Finishing Bypassed p2:Leaving"},
			{"10:02", "skip p2", "", "Done b2 p2:Skipped p2=a1"},
			{"10:03", "-hold p2", "", "Done b2 p2:Skipped p2=a1"},
			{"10:04", "source b3", "b3: c1", "Updating canary p2:Pending"},
		}},
		{"one fails with the version before, which was published by another commit since: it was unhealthy before", "careful", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "healthy c2; failed c1", "", ""},
			{"10:02", "", "", "Stopped canary TooManyFailed"},
			{"10:03", "bypass; hold p1; source b3=b2", "b2: e1 e2 e3 e4 p2 p3 p4 p5 p6", "Finishing Bypassed c1:Failed"},
			{"10:05", "source b4", "b4: c1 c2", "Updating canary"},
			{"10:06", "healthy c2; failed c1", "", ""},
			{"10:08", "", "", "Soaking canary TimedWait c1:Failed"},
		}},
	})
}
