// Package attack is the list of attacks that Waybill withstands, each as it was made once. A test is
// an attack, and its name a sentence that says what is tried; a file is a kind of attacker, or what
// is attacked.
//
// What one package decides alone is attacked there: a pull request whose comments cannot be read and a stranger's
// fifty comments (reconciler.TestAPullRequestThatCannotBeReadStopsNoOther, TestAStrangersCommandsAreNotAnswered), a red
// branch (TestARedBranchTurnsNothingRed), causes and holds made of Secrets (TestACauseShowsNoSecret,
// TestAHoldShowsNoSecret), a forged status (TestAForgedStatusDoesNotMoveTheRest), a pack that unpacks to much and a signature
// that is moved (sources/git.TestFetchWithin, TestASignatureThatIsMovedIsNone), a short digest (reconciler/orders.TestADigestOfBefore),
// another bot (sources/forge.TestAnotherBotIsNotTakenForUs). docs/security.md says of every attack who could make it.
//
// They run with the whole program, some with a real forge or real clusters, and so have the build tag e2e.
package attack
