import BeagleNetHTTP
import Foundation
import Testing

@testable import beagle

struct SubmitCommandTests {
    @Test(arguments: [
        ["--encoding", "json"], ["--encoding", "urlencoded"], ["-H", "Accept: application/problem+json"],
    ])
    func refusedFieldsAreListed(_ flags: [String]) async throws {
        try await withBackend { url in
            let run = try await BeagleProcess(["submit", "\(url)/signup", "name=", "email=x"] + flags).outcome()
            #expect(run.exit == 22)
            #expect(run.output.isEmpty)
            #expect(run.errors.contains("422 Unprocessable Content"))
            #expect(run.errors.contains("\n  name   must not be empty\n  email  must be an address"))
        }
    }

    @Test func refusedFieldsAreInTheJSON() async throws {
        try await withBackend { url in
            let run = try await beagle("submit", "\(url)/signup", "name=Ana", "email=x", "--json")
            let error = try run.json()["error"]
            #expect(run.exit == 22)
            #expect(error?["status"] == 422)
            #expect(error?["fields"] == ["email": "must be an address such as ana@example.com"])
        }
    }

    @Test func acceptedFormAnswersWithItsId() async throws {
        try await withBackend { url in
            let run = try await beagle("submit", "\(url)/signup", "name=Ana", "email=ana@example.com")
            #expect(run.exit == 0)
            #expect(run.text == "{\"id\":7}\n")
        }
    }

    @Test func getPutsTheFieldsIntoTheQueryInOrder() async throws {
        try await withBackend { url in
            let run = try await beagle("submit", "\(url)/echo?z=0", "b=1 +&", "a=", "--method", "get")
            #expect(try run.json()["method"] == "GET")
            #expect(try run.json()["query"] == "z=0&b=1%20%2B%26&a=")
        }
    }
}
