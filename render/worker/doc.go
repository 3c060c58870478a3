// Package worker runs rendering that nobody trusts in a throw-away child process, and
// makes sure that whatever happens there stays there.
//
// Kustomize and Helm run what a repository says. One line of a chart overflows the
// stack, which no recover stops; a build fetches URLs and starts git; a template runs
// for ever. So the program starts itself again, with Main in place of its own main
// function, and hands jobs to that child: bytes in, bytes out.
//
// # Walls
//
// On Linux the child is shut in by layers that do not depend on each other:
//
//   - new user, network, IPC, UTS and mount namespaces: a network with no interface
//     that is up, and no power over the processes outside. There is no PID namespace:
//     a Go program cannot be PID 1 of one and also bring restrictions to all of its
//     threads, and what a PID namespace would hide is closed by the other layers;
//   - Landlock without any right, for the file system, for TCP, for signals and
//     abstract sockets, as far as the kernel knows them;
//   - a seccomp filter that lists what a Go program at rest in memory needs. Every
//     other system call fails with EPERM, so that there is no way to open, to execute,
//     to connect, to trace or to fork;
//   - limits of address space, open files, file size, core dumps and processes, and
//     no_new_privs;
//   - an empty environment, the folder /, and no open files but the three pipes.
//
// Before its first job each child tries what it must not be able to do: to read and
// to write a file, to read environments, to execute, to reach TCP, UDP and Unix
// sockets, to signal and to read the process that started it. Walls says which layers
// are up and what became of each attempt. An Untrusted pool refuses to run, with
// ErrNoSandbox, if one of the attempts succeeded, or if there are neither namespaces
// nor Landlock, so that the seccomp filter is never the only wall. A Trusted pool
// makes do with what there is, and Missing says what is not. On other systems than
// Linux there are no walls.
//
// # Protocol
//
// Both sides speak in frames: a byte that says the kind, the length as four bytes
// (most significant first), the payload. The parent sends settings; the child raises
// its walls and answers with a report. Then, for each job, the parent sends the input,
// and the child asks for paths, one at a time, until it sends its output or an error.
// The parent answers from the files of that job only and notes what was asked for. It
// takes the child for hostile: lengths and counts are bounded, paths must be valid by
// fs.ValidPath, and a frame that is out of turn ends the child.
//
// # Deaths
//
// A child that dies, or is killed because it used up its time, takes only the job it
// was running with it. That job is tried once more in a child of its own; if that
// dies, too, the job fails with a *DeathError and the others go on elsewhere. After
// three deaths of one Key in a row, the pool refuses that key with ErrQuarantined until the
// input, and with it the key, changes. What a dying child wrote to its standard error
// may hold secrets, so only the kind of the crash and the names of functions are kept.
//
// The package does not know what is rendered, does not remember results, and does not
// log.
package worker
