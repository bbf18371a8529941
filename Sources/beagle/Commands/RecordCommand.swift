import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Dispatch
import Foundation

/// The `beagle record` command, which runs another program and records its requests.
struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Run a program and record its requests.",
        discussion: """
            Sets BEAGLENET_LOG for the program. The program must use BeagleNet and call 'try \
            dependencies.allow(.log)'. Signals are forwarded. The exit code is that of the program, 128 plus the \
            signal number if a signal ended it, or 127 if the program is not found. Only the program writes to \
            standard output; the number of recorded entries is written to standard error.

            EXAMPLE
              beagle record -o session.bglog -- beagle fetch http://127.0.0.1:8080/home
            """
    )

    @Option(name: .shortAndLong, help: ArgumentHelp("Directory of the recording.", valueName: "name.bglog"))
    var output: String

    @Argument(parsing: .postTerminator, help: ArgumentHelp("Program to run, and its arguments.", valueName: "command"))
    var command: [String] = []

    func validate() throws {
        if output.isEmpty { throw ValidationError("'-o' requires a directory name.") }
        if command.isEmpty { throw ValidationError("Specify the program: 'beagle record -o DIR -- COMMAND'.") }
    }

    func run() throws {
        let console = Console()
        // Absolute, because the program may change its working directory.
        let directory = URL(fileURLWithPath: output).path
        let before = try count(in: directory)
        let child: ChildProcess
        do throws(ChildProcess.SpawnError) {
            child = try ChildProcess(command, setting: ["BEAGLENET_LOG": directory])
        } catch {
            console.note("beagle: cannot run \(command[0]): \(error.message)".printable)
            throw ExitCode(error.exit)
        }
        let exit = child.wait()
        console.note("beagle: \(summary(try count(in: directory) - before, of: directory))".printable)
        if exit != 0 { throw ExitCode(exit) }
    }

    private func count(in directory: String) throws -> Int {
        guard RequestLog.Reader.isLog(directory) else { return 0 }
        do throws(NetworkError) {
            return try RequestLog.Reader(directory: directory).entries().count
        } catch {
            throw ValidationError(error.message)
        }
    }

    private func summary(_ count: Int, of directory: String) -> String {
        switch count {
        case ...0: "nothing was recorded: \(command[0]) sent no requests, or does not allow BEAGLENET_LOG"
        default: "\(counted(count, "entry was", "entries were")) recorded in \(directory)"
        }
    }
}
