// Package exits lists how each command ends.
package exits

// Status is how a command ends, and when. Two of one command may have one code.
type Status struct {
	Code int
	When string
}

// Statuses are those of each command, next to those of every command: 0 for --help, and 2
// for a command line that is wrong. docs/exit-codes.md lists them all.
var Statuses = map[string][]Status{
	"init": {
		{0, "the files are written"},
		{2, "a file is there already, or cannot be written"},
	},
	"validate": {
		{0, "nothing is an error"},
		{1, "something is an error"},
		{2, "the source cannot be read"},
	},
	"render": {
		{0, "everything is written or printed"},
		{1, "something is an error; without --keep-going nothing is written"},
		{2, "the source cannot be read, or the folder cannot be written"},
	},
	"diff": {
		{0, "no cluster changes"},
		{1, "a cluster changes"},
		{2, "the source has errors, so that it is not known what else would change"},
		{2, "a version of the source, or what is published, cannot be read"},
		{2, "--post: the forge does not take it"},
	},
	"explain": {
		{0, "the object is explained"},
		{2, "the source has no such object or several, or cannot be read"},
	},
	"interpret": {
		{0, "the rule answers; with --check: the scripts compile, and the cases are as they should be"},
		{1, "--check: a script does not compile, or a case differs"},
		{2, "a file cannot be read, or no rule answers"},
	},
	"problems": {
		{0, "nothing is broken"},
		{1, "something is"},
		{2, "what is published cannot be read"},
	},
	"publish": {
		{0, "every branch is as the source wants it"},
		{1, "something is an error, or a cluster is held; the rest is published"},
		{1, "waybill.yaml has a mistake; nothing is published"},
		{2, "the publication is refused: the commit is older, or the source another one"},
		{2, "a repository cannot be read or written"},
	},
	"rollback": {
		{0, "every branch is as that commit wants it; with --dry-run: would be"},
		{1, "something is an error, or a cluster is held; the rest is published"},
		{2, "nothing was published earlier, or the commit does not come before the one published last"},
		{2, "a repository cannot be read or written"},
	},
	"rollout": {
		{0, "the command is written, or the run is shown"},
		{2, "there is no such unit or run, or the command would do nothing; nothing is written"},
		{2, "a repository cannot be read or written"},
	},
	"apply": {
		{0, "every cluster is as the head of its branch"},
		{1, "an object was refused, a cluster is held or suspended, a hook failed, or something is not ready in time; the rest is applied"},
		{2, "what is published cannot be read, or no such cluster is registered"},
		{2, "a cluster cannot be reached or is another one, or its branch may not be applied"},
	},
	"cluster": {
		{0, "the file is as it was asked for, or was before"},
		{2, "there is no such cluster, or its file cannot be edited"},
		{2, "join: it is registered already, does not answer, or its file would not be read"},
	},
	"controller": {
		{0, "it was told to stop"},
		{2, "it cannot start"},
	},
	"agent": {
		{0, "it was told to stop"},
		{2, "it cannot start"},
	},
	"status": {
		{0, "every cluster is as its branch and healthy, or others apply it and say nothing"},
		{1, "a cluster is behind, failing, held or not healthy, or it is not known how it is"},
		{2, "what is published cannot be read, or no such cluster is registered"},
	},
	"get": {
		{0, "the list is printed"},
		{1, "an object that is asked for by name is not there; the others are printed"},
		{1, "with --clusters: one of them does not answer, or has no such object; what is there is printed"},
		{2, "there is no such list or cluster, or the source cannot be read"},
		{2, "with --clusters: none of them answers"},
	},
	"logs": {
		{0, "the logs are printed"},
		{2, "there is no such cluster, or it does not answer"},
		{2, "there are no such logs"},
	},
	"exec": {
		{0, "the command ended with 0"},
		{1, "the command ended with 1; any other status of it is passed on, too"},
		{2, "there is no such cluster, or it does not answer"},
		{2, "there is no such container, or it does not run"},
	},
	"top": {
		{0, "the usage is printed"},
		{2, "there is no such cluster, or it does not answer"},
		{2, "there is no such object, or the cluster measures nothing"},
	},
	"update": {
		{0, "waybill.lock is up to date, or was written"},
		{0, "with --pull-request: what is to be taken is proposed, or waits"},
		{0, "with --commit: what is to be taken is committed, or waits"},
		{1, "with --check: waybill.lock would change"},
		{1, "with --check: a new version of an image or a chart is to be taken"},
		{1, "with --check, --pull-request or --commit: an image policy or a marker is a mistake; the others are looked at"},
		{2, "a chart cannot be found, or a file cannot be read or written"},
		{2, "with --pull-request or --commit: updates.mode is another one, or the repository or the forge does not take it"},
	},
	"verify": {
		{0, "the branch is what its source gives, byte for byte"},
		{1, "the branch is not what its source gives"},
		{2, "the branch could not be rebuilt: a commit or a chart cannot be had"},
		{2, "there is no such branch, or Waybill did not write it"},
	},
	"demo": {
		{0, "every step was shown"},
		{2, "a step failed"},
	},
	"doctor": {
		{0, "untrusted sources are rendered here, and books of endpoints can go to --repository"},
		{1, "untrusted sources are refused here, or books of endpoints can go to no ref of --repository"},
		{2, "no worker can be started, or --repository cannot be asked"},
	},
	"version": {
		{0, "the version is printed"},
	},
	"completion": {
		{0, "the script is printed"},
	},
	"help": {
		{0, "the help is printed"},
		{2, "there is no such command"},
	},
}
