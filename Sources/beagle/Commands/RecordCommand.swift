import ArgumentParser
import BeagleNetHTTP
import BeagleNetReplay
import Dispatch
import Foundation

/// `beagle record`: another program, whose requests are recorded.
struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Run a program and record its requests.",
        discussion: """
            Sets BEAGLENET_LOG for the program, which must use BeagleNet and allow it: \
            try dependencies.allow(.log). Signals are passed on. The exit code is the program's own, 128 and its number \
            where a signal ended it, 127 where there is no such program. Standard output is the program's; how much was \
            recorded is told on standard error.

            EXAMPLE
              beagle record -o session.bglog -- beagle fetch http://127.0.0.1:8080/home
            """
    )

    @Option(name: .shortAndLong, help: ArgumentHelp("Record in this directory.", valueName: "name.bglog"))
    var output: String

    @Argument(parsing: .postTerminator, help: ArgumentHelp("The program and its arguments.", valueName: "command"))
    var command: [String] = []

    func validate() throws {
        if output.isEmpty { throw ValidationError("'-o' names no directory.") }
        if command.isEmpty { throw ValidationError("Say what to run: 'beagle record -o DIR -- COMMAND'.") }
    }

    func run() throws {
        let console = Console()
        // The program may go elsewhere.
        let directory = URL(fileURLWithPath: output).path
        let before = try count(in: directory)
        let child: ChildProcess
        do throws(SpawnError) {
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
        guard LogReader.isLog(directory) else { return 0 }
        do throws(NetworkError) {
            return try LogReader(directory: directory).entries().count
        } catch {
            throw ValidationError(error.message)
        }
    }

    private func summary(_ count: Int, of directory: String) -> String {
        switch count {
        case ...0: "nothing was recorded: \(command[0]) sent nothing, or does not allow BEAGLENET_LOG"
        case 1: "1 entry was recorded in \(directory)"
        default: "\(count) entries were recorded in \(directory)"
        }
    }
}
