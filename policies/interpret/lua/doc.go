// Package lua runs the scripts by which people teach what a kind means (Karmada
// section E.9): Lua 5.1 on gopher-lua, with Karmada's libraries and its kube module.
//
// A Script is compiled once, is immutable, and may be called by many at a time.
// Calls use states one after another, and nothing passes from one to the next: see machine.
// Package lua knows nothing of kinds or operations; package interpret does.
//
// # What a script can do
//
// It has the base functions, string, table and math, an os of time, date and
// difftime, and require of "kube" and of these libraries by name. The functions
// that Karmada disables (load and its like, dofile, setmetatable, getmetatable,
// the raw functions, collectgarbage, module, newproxy, getfenv, setfenv), and print,
// raise an error that says so. There are no coroutines, files, processes or debug.
//
// The same call gives the same answer on every machine. So there is no wall clock
// (os.clock, os.time without a table and os.date without a time are errors; times
// are UTC; an Undated script gets nil from os.date), there are no random numbers, pairs goes
// through the fields of an object by name, and tostring does not show addresses.
//
// # Limits
//
// Karmada gives a call one second. A second is not the same everywhere, so a call
// has a budget instead: 3,000,000 instructions and 64 MiB, which take about a tenth of
// a second to spend. gopher-lua asks its context before every instruction whether
// to go on: a context that counts is what makes the budget exact. Library functions
// pay for what they do: a step for each step of matching a pattern and for each 64
// bytes that they copy, for example. There is no clock: no instruction and no function is
// known that takes ten times as long as its steps.
//
// The virtual machine allocates inside single instructions, and goes over texts and tables
// inside others, which no context sees. Compile therefore rewrites the syntax tree:
// concatenation, table constructors and assignments to fields become calls of functions that
// pay before they allocate, and so does what may be a long text, or a table, where it is
// compared, computed with, measured, or used as a key. They reach the script as unnamed
// arguments of its main function, bound to local variables whose names no script can spell.
// Functions of the libraries pay for their arguments; those that allocate or take long, among
// them every one with a pattern, are replaced by ones that pay. An instruction that may have
// moved many values pays for them, and a function for the variables that it shares, of which
// it may have sixty, as in Lua. Bytes are counted when they are allocated and never given back.
//
// What comes back is paid for where it is new: 20 steps a value and a step for four bytes of
// text, of which an answer may bring 4 MiB.
//
// A spent budget stays spent: a script that catches the error gets it again at its
// next instruction. Calls nest 256 deep, as in Karmada.
//
// A call is bounded, and so is the sum of many: a Budget is what is left of it, and an
// Answer what the calls for one answer may take. What is cheap is not touched by what
// others have spent.
//
// Compiling is bounded by the size of a script. The dearest scripts of 64 KiB that are known
// take the parser 70 MB (powers), the compiler 80 MB (functions) and 0.3 seconds (numbers),
// whatever they nest; what is kept of them is no more than ten times their size or so.
//
// # What is ours, and why
//
// gopher-lua runs scripts without limits but of time, and its libraries reach the machine. Each part
// is there because tests fail without it, of which some are named:
//
//	machine.go            states that calls share one after another, and nothing passes
//	                      (TestNothingIsPoisoned, TestLibrariesAreTables, TestAFailedRunLeavesNoMachine)
//	state.go              what is taken away, and functions of the libraries that pay
//	                      (TestScriptsCannotLeave, TestGlobalsAreKnown, TestEveryStepIsAStep/tonumber)
//	meter.go, budget.go   what a call may take, and calls together
//	                      (TestBombsAreDefused, TestTheBudgetIsTheSameEveryTime; in package interpret TestAnswersHaveABudgetTogether)
//	rewrite.go            syntax that allocates or takes long; by its intrinsics: (concat) TestBombsAreDefused/doubling, (table) tables,
//	                      (key) a list with a hole, by a constructor; (read) TestEveryStepIsAStep/comparing long texts, (closure) closures over many variables
//	assign.go             assignments to fields, (set), and to several at once
//	                      (TestBombsAreDefused/a list with a hole, and by two; TestStatementsMeanWhatTheyMeanInLua)
//	patterns.go, match.go patterns whose steps are counted: the library's backtrack without end, and see no budget
//	                      (TestBombsAreDefused/a pattern that backtracks; TestPatterns)
//	format.go, strings.go texts that are paid for before they are made (TestBombsAreDefused/a format of a long string, upper)
//	tables.go             the same of lists (TestBombsAreDefused/table.concat, sorting again and again)
//	dates.go              times that are given, in UTC, and no clock (TestExpressions, TestScriptsCannotLeave)
//	kube.go               Karmada's module (TestQuantities, TestPodsAreAskedOfTheHost)
//	values.go             manifests that come back as they were, and in the order of names
//	                      (TestValuesComeBack, TestFieldsHaveTheOrderOfTheirNames)
//
// # Values
//
// Objects go in as tables and come back as decoded manifests: string, bool, int64,
// float64, []any and map[string]any. Lua has only floating point numbers and only
// one kind of table, so the converter remembers what each table was made of:
//
//   - An integer that Lua cannot hold (beyond 2^53) and a float that looks like an
//     integer come back as they were, if they are where they were. Any other
//     number comes back as an int64 if it is whole and fits, else as a float64.
//   - An empty table comes back as the empty list or the empty map that it was; a new
//     one as what stood at its place in the object before; one that stands where
//     nothing was is dropped, as in Karmada.
//   - A nil removes its field, and null is nil: a null of a map or a list is dropped.
//
// A table that is neither a list without gaps nor a map, a number that is not
// finite, a string that is not UTF-8, a function and a table that contains itself
// cannot come back: an error names the path.
package lua
