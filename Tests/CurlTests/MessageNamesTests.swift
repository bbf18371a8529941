import BeagleNetHTTP
import Testing

@testable import BeagleNetCurl

struct MessageNamesTests {
    private static let known: [(HTTPField.Name, Message.Names)] = [
        (.accept, .accept), (.acceptEncoding, .acceptEncoding), (.contentType, .contentType), (.cookie, .cookie),
        (.range, .range), (.contentLength, .framing), (.transferEncoding, .framing),
    ]

    @Test func fieldIsFoundInAnyCaseAmongOthers() {
        for (name, names) in Self.known {
            let spelling = HTTPField.Name(name.rawName.uppercased())!
            let fields: HTTPFields = [.userAgent: "a", spelling: "b", .origin: "c"]
            #expect(Message.Names(fields) == names, "\(name)")
        }
    }

    @Test func otherNamesOfTheSameLengthAreNotFound() {
        for (name, _) in Self.known {
            let other = HTTPField.Name(String(repeating: "x", count: name.rawName.count))!
            #expect(Message.Names([other: "a"]) == [], "\(name)")
        }
        #expect(Message.Names([:]) == [])
    }

    @Test func allFieldsAreFoundTogether() {
        let fields = HTTPFields(Self.known.map { HTTPField(name: $0.0, value: "1") })
        #expect(Message.Names(fields) == Self.known.reduce(into: []) { $0.formUnion($1.1) })
    }
}
