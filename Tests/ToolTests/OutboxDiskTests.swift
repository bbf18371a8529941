import BeagleNetTesting
import Foundation
import Testing

/// The file system calls of an outbox, observed in a program that uses one.
@Suite(.timeLimit(.minutes(5))) struct OutboxDiskTests {
    /// Submits a form in its own process, without a server that responds.
    ///
    /// - Parameter full: The step at which the disk is full; no step if empty.
    private func submit(into outbox: String, full: String = "") async throws -> BeagleProcess.Outcome {
        try await BeagleProcess([outbox, "once"], environment: ["BEAGLENET_DISK": full], program: "OutboxProbe")
            .outcome()
    }

    private func isEmpty(_ outbox: String) throws -> Bool {
        let names = try FileManager.default.contentsOfDirectory(atPath: outbox)
        return Set(names).isSubset(of: ["damaged", "refused", "send.lock"])
    }

    #if os(Linux)
        @Test func entryIsOnTheDiskBeforeItIsSentAndReportedAsKept() async throws {
            try await withDirectory { directory in
                let outcome = try await submit(into: "\(directory)/outbox")
                #expect(
                    outcome.lines == [
                        // The directories, each in its parent.
                        "fsync other", "fsync outbox", "fsync outbox",
                        // The entry's bytes, and its name.
                        "fsync part", "rename part", "fsync outbox",
                        "sent", "kept",
                    ],
                    "\(outcome.errors)"
                )
            }
        }

        @Test(arguments: ["part", "rename", "outbox"])
        func aFullDiskIsReportedBeforeSending(step: String) async throws {
            try await withDirectory { directory in
                let outbox = "\(directory)/outbox"
                let outcome = try await submit(into: outbox, full: step)
                let last = outcome.lines.last ?? outcome.errors
                #expect(
                    last.hasPrefix("file, not kept, not sent: ") && last.hasSuffix("No space left on device"),
                    "\(last)"
                )
                #expect(!outcome.lines.contains("sent"))
                #expect(try isEmpty(outbox))
                // When space is available again, submitting works.
                #expect(try await submit(into: outbox).lines.last == "kept")
            }
        }
    #endif

    @Test func aFileThatCannotGrowIsReportedBeforeSending() async throws {
        try await withDirectory { directory in
            let outbox = "\(directory)/outbox"
            let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""
            let probe = BeagleProcess.executable("OutboxProbe").path
            let outcome = try await BeagleProcess(["-c", script, probe, outbox, "once"], program: "/bin/sh").outcome()
            #expect(
                outcome.lines.first?.hasPrefix("file, not kept, not sent: cannot write") == true,
                "\(outcome.errors)"
            )
            #expect(outcome.lines.count == 1)
            #expect(try isEmpty(outbox))
        }
    }
}
