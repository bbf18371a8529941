import BeagleNetHTTP
import Testing

@testable import BeagleNetReplay

struct ComparisonReportTests {
    private func entry(_ number: Int, _ outcome: Reissuer.Entry.Outcome) -> Reissuer.Entry {
        var entry = Reissuer.Entry(
            entry: number,
            id: "s-\(number)",
            method: "GET",
            url: "http://h/?a=1&b=<\"\(number)\">",
            kind: "component"
        )
        (entry.latency, entry.outcome) = (.microseconds(1_234_500), outcome)
        return entry
    }

    private var report: Reissuer.ComparisonReport {
        var differences = ComparisonRules.Differences(limit: 1)
        differences.append(ComparisonRules.Difference(.changed, at: "$.a", before: "]]>&\u{1}", after: "\u{FFFF}é😀"))
        differences.append(ComparisonRules.Difference(.added, at: "$.b", after: "1"))
        differences.notes = ["note"]
        return Reissuer.ComparisonReport([
            entry(0, .same(notes: [])), entry(1, .same(notes: ["n<1>"])), entry(2, .different(differences)),
            entry(3, .failed(NetworkError(.timeout, during: .body, "time \"is\" up", advice: "wait"))),
            entry(4, .skipped("POST\nmay")), entry(5, .unchecked("the body was not compared: <cut>")),
        ])
    }

    @Test func textListsDifferences() {
        #expect(
            report.description == """
                same       GET http://h/?a=1&b=<"1">
                  n<1>
                different  GET http://h/?a=1&b=<"2">
                  $.a: ]]>&\u{1} → \u{FFFF}é😀
                  and 1 more
                  note
                failed     GET http://h/?a=1&b=<"3">
                  time "is" up [timeout, body]; wait
                skipped    GET http://h/?a=1&b=<"4">
                  POST
                may
                unchecked  GET http://h/?a=1&b=<"5">
                  the body was not compared: <cut>
                2 same, 1 unchecked, 1 different, 1 failed, 1 skipped
                """
        )
    }

    @Test func jsonListsAllEntries() throws {
        let json = report.json
        #expect(json["isSame"] == false)
        #expect(json["summary"] == ["same": 2, "unchecked": 1, "different": 1, "failed": 1, "skipped": 1])
        let entries = try #require(json["entries"]?.array)
        #expect(entries.map { $0["outcome"] } == ["same", "same", "different", "failed", "skipped", "unchecked"])
        #expect(entries[5]["reason"] == "the body was not compared: <cut>")
        #expect(entries[2]["differences"]?[0]?["place"] == "$.a")
        #expect(entries[2]["further"] == 1)
        #expect(entries[3]["error"]?["code"] == "timeout")
        #expect(entries[0]["latencyMs"] == 1234.5)
        #expect(try JSONValue(parsing: "\(json)") == json)
    }

    @Test func junitIsEscaped() {
        let xml = report.junit
        #expect(
            xml.contains(
                "<testsuite name=\"replay\" tests=\"6\" failures=\"1\" errors=\"1\" skipped=\"2\" time=\"7.407\">"
            )
        )
        #expect(
            xml.contains(
                "<testcase name=\"1 GET http://h/?a=1&amp;b=&lt;&quot;0&quot;&gt;\" classname=\"replay.component\" time=\"1.235\"/>"
            )
        )
        #expect(xml.contains("$.a: ]]&gt;&amp;\u{FFFD} → \u{FFFD}é😀&#10;and 1 more&#10;note</failure>"))
        #expect(xml.contains("<error message=\"time &quot;is&quot; up\" type=\"timeout\">"))
        #expect(xml.contains("<skipped message=\"POST&#10;may\"/>"))
        #expect(xml.contains("<skipped message=\"the body was not compared: &lt;cut&gt;\"/>"))
        #expect(xml.contains("<system-out>n&lt;1&gt;</system-out>"))
    }
}
