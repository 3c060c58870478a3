package stage_test

import (
	"testing"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// TestClusters has what becomes of clusters that are not as the others.
func TestClusters(t *testing.T) {
	playAll(t, []scenario{
		{"one joins a stage that is over, and one that is not", "three", "canary: c1; early: e1; prod: p1", []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: e1", "Updating early"},
			{"10:02", "join c2 canary; join e2 early; join p2 prod; join x none", "a1: e2 p2 x; b2: c2", "Updating early c2:Released e2:Pending"},
			{"10:03", "failed c2; healthy e1", "b2: e2", "Updating early c2:Failing"},
			{"10:04", "healthy e2", "b2: p1 p2", "Updating prod c2:Failed"}, // its failure counts for nothing
			{"10:05", "healthy p1 p2", "b2: x", "Updating _unmatched"},
			{"10:06", "healthy x", "", "Done b2"},
		}},
		{"one joins a stage that soaks", "asked", "canary: c1; prod: p1", []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "", "Soaking canary TimedWait"},
			{"10:02", "join c2 canary", "b2: c2", "Soaking canary NotHealthy c2:Released"},
			{"10:03", "failed c2", "", "Soaking canary NotHealthy c2:Failing"},
			{"10:04", "", "", "Soaking canary TimedWait c2:Failed"}, // its failure counts for nothing
		}},
		{"one joins a stage that waits for its approval", "asked", "canary: c1; prod: p1", []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "", ""},
			{"10:11", "", "", "Approving canary ApprovalMissing"},
			{"10:12", "join c2 canary", "b2: c2", "Soaking canary NotHealthy c2:Released"},
			{"10:13", "failed c2", "", "Soaking canary NotHealthy c2:Failing"},
			{"10:14", "", "", "Approving canary ApprovalMissing c2:Failed"}, // its failure counts for nothing
		}},
		{"one joins while the run is stopped", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", ""},
			{"10:02", "stop; join c2 canary", "a1: c2", "Stopped prod Commanded c2:Pending"},
			{"10:03", "resume", "b2: c2", "Updating prod c2:Released"},
		}},
		{"one joins while the run is stopped, and both versions are the same for it", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", ""},
			{"10:02", "stop; same b2 c2 a1; join c2 canary", "a1: c2", "Stopped prod Commanded c2:Pending"},
			{"10:03", "resume", "", "Updating prod c2:Unchanged"}, // nothing changes there, so that nobody waits for it
		}},
		{"one is gone, and one is relabelled", "three", "canary: c1 c2; early: e1; prod: p1", []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "gone c2; healthy c1", "b2: e1", "Updating early"},
			{"10:02", "relabel c1 prod; relabel p1 canary", "b2: p1", "Updating early c1:Healthy p1:Released"}, // its stage was released
			{"10:03", "healthy e1 p1", "", "Done b2"},
		}},
		{"one comes to a stage that was skipped", "three", "canary: c1; early: e1; prod: p1 p2", []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "skip early", "", "Updating canary e1:Skipped"},
			{"10:02", "healthy c1; relabel p2 early", "b2: p1", "Updating prod p2:Pending"},
			{"10:03", "healthy p1", "b2: p2", "Done b2 e1:Skipped p2:Released"},
		}},
		{"one in which nothing changes comes to a stage that is over", "three", "canary: c1; early: e1; prod: p1 p2", []row{
			{"10:00", "same b2 p1 a1; source b2", "b2: c1", ""},
			{"10:01", "healthy c1; relabel p1 canary", "b2: e1", "Updating early p1:Unchanged"},
		}},
		{"one is silent, and comes back in its stage", "simple", four, []row{
			{"10:00", "silent p1; source b2", "b2: c1", "Updating canary p1:Late"},
			{"10:01", "healthy c1", "b2: p2 p3", "Updating prod"},
			{"10:02", "progressing p1", "", "Updating prod p1:Pending"},
			{"10:03", "healthy p2", "b2: p1", ""},
		}},
		{"one is silent, and comes back after the run", "simple", four, []row{
			{"10:00", "silent p1; source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p2 p3", ""},
			{"10:02", "healthy p2 p3", "", "Done b2 p1:Late"},
			{"10:03", "closed prod 11:00; progressing p1", "", "Done b2 p1:Pending"},
			{"11:00", "open prod", "b2: p1", "Done b2 p1:Released"},
			{"11:01", "healthy p1", "", "Done b2"},
		}},
		{"those that come back after the run go by the width of their stage", "simple", four, []row{
			{"10:00", "silent p1 p2 p3; source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "", "Updating prod NoneAnswers"},
			{"10:02", "skip prod", "", "Done b2 p1:Skipped"},
		}},
		{"one falls silent after its release, and was not healthy", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "silent c1", "", "Updating canary c1:Released"},
			{"10:20", "", "", "Stopped canary TooManyFailed c1:Failed"},
		}},
		{"one falls silent after it was healthy", "careful", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "healthy c1 c2", "", "Soaking canary TimedWait"},
			{"10:20", "silent c1", "", "Soaking canary TimedWait c1:Healthy"},
			{"10:31", "", "", "Soaking canary NotHealthy"},
			{"10:40", "", "b2: e1 e2", "Updating early c1:Late"}, // c2 is healthy, and nobody waits for c1 any more
			{"10:41", "healthy c1", "", "Updating early c1:Healthy"},
		}},
		{"one was late, and something fails there when it is back: it has as long as others to recover", "careful", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "healthy c1 c2", "", ""},
			{"10:20", "silent c1", "", ""},
			{"10:40", "", "b2: e1 e2", "Updating early c1:Late"},
			{"10:41", "failed c1", "", "Updating early c1:Failing"},
			{"10:42", "", "", "Stopped early TooManyFailed c1:Failed"},
		}},
		{"one was late, and does not have what is published when it is back", "careful", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "healthy c1 c2", "", ""},
			{"10:20", "silent c1", "", ""},
			{"10:40", "", "b2: e1 e2", "Updating early c1:Late"},
			{"10:41", "healthy c1; elsewhere c1", "", "Updating early c1:Released"},
		}},
		{"one is held and silent while a run goes back: the run ends when it has the version before", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", ""},
			{"10:02", "silent p1; hold p1; return", "a1: c1 p2", "Returning prod Commanded"},
			{"10:03", "-hold p1", "a1: p1", "Stopped prod KeptBack"},
		}},
		{"one is held and silent when a run is about to end", "simple", four, []row{
			{"10:00", "drops b2 p3; same b2 p2 a1; source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1", "Updating prod p3:Leaving"},
			{"10:02", "hold p3 p2; edited p2; silent p2; healthy p1", "", "Finishing NotPublished"},
			{"10:03", "-hold p3", ": p3", "Finishing NotPublished"},
			{"10:04", "-hold p2", "a1: p2", "Done b2"},
		}},
		{"all fall silent after they were healthy", "careful", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "healthy c1 c2", "", ""},
			{"10:20", "silent c1 c2", "", ""},
			{"10:39", "", "", "Soaking canary NotHealthy"},
			{"10:40", "", "", "Stopped canary NoneHealthy"},
		}},
		{"one was unhealthy before, and one is by the version that is replaced", "simple", four, []row{
			{"10:00", "failed p1; source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p2 p3", "Updating prod p1:Pending"}, // p1 goes last
			{"10:02", "healthy p2; failed p3", "b2: p1", ""},
			{"10:03", "source b3", "b3: c1", "Updating canary"},
			{"10:04", "healthy c1", "b3: p2 p3", "Updating prod p1:Pending"},
			{"10:05", "healthy p2 p3", "b3: p1", ""},
			{"10:06", "failed p1", "", "Updating prod p1:Failing"},
			{"10:07", "", "", "Done b3"},
		}},
		{"those that failed go first", "three", "canary: c1; early: e1 e2 e3; prod: p1", []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: e1", ""},
			{"10:02", "healthy e1", "b2: e2", ""},
			{"10:03", "failed e2", "", ""},
			{"10:04", "", "", "Stopped early TooManyFailed"},
			{"10:05", "source b3", "b3: c1", "Updating canary"},
			{"10:06", "healthy c1", "b3: e2", "Updating early"},
			{"10:07", "failed e2", "", "Updating early e2:Failing"},
			{"10:08", "", "", "Stopped early TooManyFailed"}, // and their failure counts
		}},
		{"those that failed go first, also when a newer version comes before their turn", "three", "canary: c1; early: e1 e2 e3; prod: p1", []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: e1", ""},
			{"10:02", "healthy e1", "b2: e2", ""},
			{"10:03", "failed e2", "", ""},
			{"10:04", "", "", "Stopped early TooManyFailed"},
			{"10:05", "source b3; progressing e2", "b3: c1", "Updating canary"},
			{"10:06", "source b4", "b4: c1", "Updating canary"},
			{"10:07", "healthy c1", "b4: e2", "Updating early"},
		}},
		{"none is healthy of those that were unhealthy before", "simple", "canary: c1; prod: p1", []row{
			{"10:00", "failed c1; source b2", "b2: c1", ""},
			{"10:01", "failed c1", "", ""},
			{"10:02", "", "", "Updating canary NoneAnswers c1:Failed"},
			{"10:20", "", "", "Stopped canary NoneHealthy"},
		}},
		{"one cannot be written", "simple", four, []row{
			{"10:00", "unwritable p2; source b2", "b2: c1", "Updating canary p2:Pending"},
			{"10:01", "healthy c1", "", "Stopped prod TooManyFailed p2:Failed p1:Pending"},
			{"10:02", "resume", "b2: p1 p3", "Updating prod p2:Failed"},
			{"10:03", "-unwritable p2", "", "Updating prod p2:Pending"},
			{"10:04", "healthy p1", "b2: p2", "Updating prod p2:Released"},
		}},
		{"what was forgiven stays so, though the run is stopped and resumed once more", "simple", four, []row{
			{"10:00", "unwritable p2; source b2", "b2: c1", "Updating canary p2:Pending"},
			{"10:01", "healthy c1", "", "Stopped prod TooManyFailed p2:Failed p1:Pending"},
			{"10:02", "resume", "b2: p1 p3", "Updating prod p2:Failed"},
			{"10:03", "-unwritable p2", "", "Updating prod p2:Pending"},
			{"10:04", "stop", "", "Stopped prod Commanded p2:Pending"},
			{"10:05", "resume", "", "Updating prod p2:Pending"},
			{"10:06", "healthy p1", "b2: p2", "Updating prod p2:Released"},
			{"10:07", "failed p2", "", "Updating prod p2:Failing"},
			{"10:08", "", "", "Updating prod p2:Failed"},
		}},
		{"one that was released is held: the stage waits, and its deadline rests", "simple", four, []row{
			{"10:00", "source b2; missed c1", "", "Updating canary c1:Released"},
			{"10:01", "hold c1; missed c1", "", "Updating canary ClusterHeld"},
			{"10:41", "", "", "Updating canary ClusterHeld c1:Released"},
			{"10:42", "-hold c1", "b2: c1", "Updating canary c1:Released"},
			{"11:00", "", "", "Updating canary c1:Released"},
			{"11:01", "", "", "Stopped canary TooManyFailed c1:Failed"},
		}},
		{"one is suspended by a policy, and catches up", "simple", four, []row{
			{"10:00", "suspend p1; source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p2 p3", "Updating prod p1:Suspended"},
			{"10:02", "healthy p2 p3", "", "Done b2 p1:Suspended"},
			{"10:03", "-suspend p1", "b2: p1", "Done b2 p1:Released"},
		}},
		{"the sync of one is closed after its release: its deadline rests", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:10", "close c1", "", "Updating canary c1:Released"},
			{"11:10", "-close c1", "", "Updating canary c1:Released"},
			{"11:19", "", "", "Updating canary c1:Released"},
			{"11:20", "", "", "Stopped canary TooManyFailed"},
		}},
		{"in some nothing changes", "three", "canary: c1; early: e1; prod: p1 p2", []row{
			{"10:00", "same b2 e1 a1; same b2 p2 a1; source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1", "Updating prod e1:Unchanged p2:Unchanged"},
			{"10:02", "healthy p1", "", "Done b2"},
		}},
		{"the stage in which nothing changes asks nobody", "asked", four, []row{
			{"10:00", "same b2 c1 a1; source b2", "", "Waiting prod ApprovalMissing"},
		}},
		{"one takes over before its turn", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "takes p2", "a1: p2", "Updating canary p2:Pending"},
			{"10:02", "stop; takes p2", "a1: p2", "Stopped canary Commanded"},
			{"10:03", "-takes p2; unreadable a1; takes p3", "b2: p3", "Stopped canary Commanded p3:Released p2:Pending"},
		}},
		{"a failure does not count from before the release, nor by a clock that is ahead", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:00:30", "failed@09:00 c1", "", "Updating canary c1:Failing"},
			{"10:00:59", "", "", "Updating canary c1:Failing"},
			{"10:01", "", "", "Stopped canary TooManyFailed"},
			{"10:02", "source b3", "b3: c1", "Updating canary"},
			{"10:03", "failed@23:00 c1", "", "Updating canary c1:Failing"},
			{"10:04", "", "", "Stopped canary TooManyFailed"},
		}},
		{"one was healthy, and does not have any more what is published: it is not silent", "careful", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "healthy c1 c2", "", "Soaking canary TimedWait"},
			{"10:02", "elsewhere c1", "", "Soaking canary TimedWait c1:Healthy"},
			{"10:21", "", "", "Soaking canary TimedWait c1:Healthy"},
			{"10:22", "", "", "Stopped canary TooManyFailed c1:Failed"},
		}},
		{"such a failure is tolerated, and the others have to stay healthy for the whole time again", "tolerant", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "healthy c1 c2", "", "Soaking canary TimedWait"},
			{"10:12", "elsewhere c1", "", "Soaking canary TimedWait c1:Healthy"},
			{"10:31", "", "", "Soaking canary NotHealthy"},
			{"10:32", "", "", "Soaking canary TimedWait c1:Failed"},
			{"11:01:59", "", "", "Soaking canary TimedWait"},
			{"11:02", "", "b2: e1 e2", "Updating early"},
		}},
		{"what one had that was healthy is gone: it has to be healthy again", "careful", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "healthy c1", "", "Updating canary c1:Healthy"},
			{"10:02", "takes c1", "b2: c1", "Updating canary c1:Released"},
			{"10:03", "healthy c2", "", "Updating canary c1:Released"}, // what it said of these bytes once does not count
			{"10:04", "progressing c1", "", "Updating canary c1:Released"},
			{"10:05", "healthy c1", "", "Soaking canary TimedWait c1:Healthy"},
		}},
		{"what one had that failed is gone: it has to fail again", "careful", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "failed c1", "", "Updating canary c1:Failing"},
			{"10:01:30", "takes c1", "b2: c1", "Updating canary c1:Released"},
			{"10:02", "", "", "Updating canary c1:Released"},
		}},
		{"old evidence proves nothing after the deadline either", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", ""},
			{"10:02", "return", "a1: c1 p1 p2", "Stopped prod KeptBack"},
			{"10:03", "resume", "b2: c1", "Updating canary c1:Released"},
			{"10:23", "", "", "Stopped canary TooManyFailed c1:Failed"},
			{"10:24", "", "", "Stopped canary TooManyFailed c1:Failed"},
			{"10:25", "progressing c1; healthy c1", "", "Stopped canary TooManyFailed c1:Healthy"},
		}},
		{"old evidence proves nothing", "simple", four, []row{
			{"09:59", "healthy c1 p1 p2 p3", "", "Done a1"},
			{"10:00", "source b2", "b2: c1", "Updating canary"},
			{"10:10", "", "", "Updating canary c1:Released"},
		}},
	})
}

// TestWhatCannotBeMade has runs that would go back and whose target cannot be made, which is no evidence: they stop, and go back only if
// clusters alone say that too many failed.
func TestWhatCannotBeMade(t *testing.T) {
	returns := &rollouts.Strategy{Name: "returns", OnFailure: rollouts.ReturnOnFailure, Stages: []rollouts.Stage{part("canary", "1", "0", ""), part("prod", "2", "1", "")}}
	for _, s := range []scenario{
		{name: "one had it, and then it cannot be made any more", stages: four, rows: []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", "Updating prod"},
			{"10:02", "source b3; unwritable c1 p1 p2 p3", "", "Stopped canary TooManyFailed c1:Failed"},
			{"10:03", "failed c1", "", "Stopped canary TooManyFailed"},
			{"10:04", "-unwritable c1 p1 p2 p3; source b4", "b4: c1", "Updating canary"},
			{"10:05", "failed c1", "", "Updating canary c1:Failing"},
			{"10:06", "", "a1: c1 p1 p2", "Stopped canary KeptBack"},
		}},
		{name: "it failed in one, and cannot be made for another one: too many only with that", stages: four, rows: []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "unwritable p1; healthy c1", "b2: p2 p3", "Updating prod p1:Failed"}, // which is tolerated
			{"10:02", "failed p2", "", "Updating prod p2:Failing"},
			{"10:03", "", "", "Stopped prod TooManyFailed p2:Failed"},
		}},
		{name: "it failed in too many, and cannot be made for another one", stages: four, rows: []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "unwritable p1; healthy c1", "b2: p2 p3", "Updating prod p1:Failed"},
			{"10:02", "failed p2 p3", "", "Updating prod p2:Failing p3:Failing"},
			{"10:03", "", "a1: c1 p2 p3", "Stopped prod KeptBack"},
		}},
		{name: "none of a stage is healthy in time, for it can be made for none", stages: "canary: c1; prod: p1", rows: []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "unwritable p1; healthy c1", "", "Updating prod NoneAnswers p1:Failed"},
			{"10:21", "", "", "Stopped prod NoneHealthy"},
		}},
	} {
		t.Run(s.name, func(t *testing.T) { newWorld(t, returns, s.stages).play(s.rows) })
	}
}

// TestRuns has what becomes of runs whose source, strategy, state or clock is not as it should be.
func TestRuns(t *testing.T) {
	playAll(t, []scenario{
		{"it fails, and would go back, and the base cannot be read", "returns", twelve, []row{
			{"10:00", "unreadable a1; source b2", "b2: c1 c2", ""},
			{"10:01", "failed c1", "", ""},
			{"10:02", "return", "", "Stopped canary TooManyFailed"},
			{"10:03", "source b3=a1", "a1: c1 c2", "Done a1"}, // the source has it
		}},
		{"the strategy is edited", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "strategy asked; healthy c1", "", "Soaking canary TimedWait"},
			{"10:02", "strategy three", "b2: p1 p2", "Updating prod"},
		}},
		{"it is unbound by a change, and by one that changes nothing", "simple", four, []row{
			{"10:00", "strategy ; source b2", "b2: c1", "Updating canary"},
			{"10:01", "healthy c1", "b2: p1 p2", ""},
			{"10:02", "healthy p1 p2", "b2: p3", ""},
			{"10:03", "healthy p3", "", "Done forgotten"},
			{"10:04", "source b3", "b3: c1 p1 p2 p3", "Done forgotten"},
			{"10:05", "strategy simple", "", "Done b3"}, // the first strategy starts no run
			{"10:06", "strategy ", "", "Done forgotten"},
		}},
		{"nothing may be released", "simple", four, []row{
			{"10:00", "refused the strategy cannot be read; source b2", "", "Done a1"},
			{"10:01", "bypass@trailer", "", "Done a1"},
			{"10:02", "refused ", "b2: c1", "Updating canary"},
			{"10:03", "refused the strategy cannot be read; healthy c1", "", "Waiting prod SourceRefused"},
			{"10:04", "bypass", "", "Waiting prod SourceRefused"},
			{"10:05", "refused ; source b3=a1", "a1: c1", "Done a1"},
		}},
		{"one joins while nothing may be released", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", ""},
			{"10:02", "refused the strategy cannot be read; join c2 canary", "a1: c2", "Updating prod SourceRefused c2:Pending"},
			{"10:03", "refused ", "b2: c2", "Updating prod c2:Released"},
		}},
		{"the state is lost", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", ""},
			{"10:02", "lost; mute c1", "", "Updating canary c1:Released p1:Released p3:Pending"},
			{"10:03", "healthy c1 p1 p2", "b2: p3", "Updating prod"},
			{"10:04", "return", "", "Updating prod"}, // nobody knows to what
		}},
		{"only the record is lost, and then it cannot be read", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "forgotten; mute c1", "", "Updating canary c1:Released p1:Pending"},
			{"10:02", "forgotten; refused it cannot be read; healthy c1", "", "Done"},
			{"10:03", "", "", "Done"},
			{"10:04", "refused ", "b2: p1 p2", "Updating prod c1:Healthy"},
		}},
		{"half a push of what it had once before", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "healthy c1", "b2: p1 p2", ""},
			{"10:02", "source a1", "a1: c1 p1 p2", "Done a1"},
			{"10:03", "source b2; half", "b2: c1", "Updating canary c1:Released"},
			{"10:04", "", "", "Updating canary c1:Released"}, // what it said last was said of the bytes before
			{"10:05", "healthy c1", "b2: p1 p2", "Updating prod"},
		}},
		{"half a push of a run that goes back", "returns", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "healthy c1; failed c2", "", "Updating canary c2:Failing"},
			{"10:02", "half", "a1: c1 c2", "Stopped canary KeptBack"},
		}},
		{"half a push", "simple", four, []row{
			{"10:00", "source b2; half", "b2: c1", ""},
			{"10:01", "healthy c1; half", "b2: p1 p2", ""},
			{"10:02", "healthy p1", "b2: p3", "Updating prod p1:Healthy p2:Released p3:Released"},
		}},
		{"the clock goes back", "careful", twelve, []row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "healthy c1 c2", "", "Soaking canary TimedWait"},
			{"09:01", "", "", "Soaking canary TimedWait"},
			{"10:30", "", "", "Soaking canary TimedWait"},
			{"10:31", "", "b2: e1 e2", "Updating early"},
		}},
		{"commands act once, and on the run that they name", "simple", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "stop@other", "", "Updating canary"},
			{"10:02", "stop", "", "Stopped canary Commanded"},
			{"10:03", "resume", "", "Updating canary"},
			{"10:04", "", "", "Updating canary"},
			{"10:05", "source b3", "b3: c1", "Updating canary"},
			{"10:06", "resume; approve canary; skip nobody; skip none", "", "Updating canary"},
		}},
		{"an approval that comes too early approves nothing later", "asked", four, []row{
			{"10:00", "source b2", "b2: c1", ""},
			{"10:01", "approve canary", "", "Updating canary"},
			{"10:02", "healthy c1", "", "Soaking canary TimedWait"},
			{"10:12", "", "", "Approving canary ApprovalMissing"},
		}},
	})
}

// TestWhatLostAUnitDoesNotGetItAgain: the last step of a run came to one that the unit leaves, and not to another cluster. A newer version
// that does not want the first one either goes out from the version before, and does not bring that back.
func TestWhatLostAUnitDoesNotGetItAgain(t *testing.T) {
	w := newWorld(t, strategies["simple"], four)
	w.play([]row{
		{"10:00", "drops b2 p3; drops b3 p3; source b2", "b2: c1", "Updating canary"},
		{"10:01", "healthy c1", "b2: p1 p2", "Updating prod p3:Leaving"},
	})
	w.now = clock("10:02")
	w.do("healthy p1 p2")
	w.plan()
	w.has["p2"], w.member("p2").Misses = "a1", true
	c := w.in.Before.Clusters["p2"]
	c.Reason = rollouts.NotPublished
	w.in.Before.Clusters["p2"] = c
	w.play([]row{{"10:03", "source b3", "b3: c1", "Updating canary p3:Leaving p2=a1"}})
	if has := w.has["p3"]; has != "" {
		t.Errorf("p3 has %s again", has)
	}
}
