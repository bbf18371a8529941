import BeagleNet
import BeagleNetTesting
import Dispatch
import Testing
import TestClients

@Suite(.beagle(), .timeLimit(.minutes(1))) struct DeliveryTests {
    private let component = NetworkOperation(Request(url: URL(string: "http://host/screen")!, type: .fetchComponent))

    /// Emits a hundred results and then the last.
    private func client() -> NetworkClientDefault {
        TestClients.client(
            ScriptedRuns { _, emit in
                for number in 1...100 { emit(.init("\(number)", isStale: true)) }
                return .init("last")
            }
        )
    }

    private static let expected = (1...100).map { "\($0) stale" } + ["last"]

    @Test func eventsAreDeliveredToAQueueInOrder() async {
        let client = client()
        let heard = EventRecorder()
        let queue = DispatchQueue(label: "heard")
        client.watch(component, deliverOn: queue) { event in
            dispatchPrecondition(condition: .onQueue(queue))
            heard.receive(event)
        }
        await heard.waitForEvents(101)
        #expect(heard.all == Self.expected)
        withExtendedLifetime(client) {}
    }

    @Test func eventsAreDeliveredToTheMainActorInOrder() async {
        let client = client()
        let heard = EventRecorder()
        client.watch(component, deliverOn: MainActor.shared) { event in
            MainActor.assertIsolated()
            heard.receive(event)
        }
        await heard.waitForEvents(101)
        #expect(heard.all == Self.expected)
        withExtendedLifetime(client) {}
    }

    @Test @MainActor func cancellingOnTheDeliveryContextStopsDelivery() async {
        let client = client()
        let heard = EventRecorder()
        // Events that were already sent wait until this function leaves the actor.
        client.watch(component, deliverOn: MainActor.shared) { heard.receive($0) }?.cancel()
        let queue = DispatchQueue(label: "heard")
        queue.sync { client.watch(component, deliverOn: queue) { heard.receive($0) }?.cancel() }
        queue.sync {}
        await Task { @MainActor in }.value
        #expect(heard.all == [])
        #expect(client.activeOperations == 0)
    }

    @Test func endIsDeliveredWhenTheClientIsReleased() async {
        let heard = EventRecorder()
        do {
            let client = client()
            client.watch(component, deliverOn: MainActor.shared) { heard.receive($0) }
            await heard.waitForEvents(101)
        }
        await heard.waitForEvents(102)
        #expect(heard.all.last == "end")
    }

    @Test func invalidRequestIsDeliveredAsAFailure() async {
        let client = client()
        let heard = EventRecorder()
        let broken = NetworkOperation(Request(url: URL(string: "ftp://host/")!, type: .fetchComponent))
        #expect(client.watch(broken, deliverOn: MainActor.shared, { heard.receive($0) }) == nil)
        #expect(client.watch(broken, deliverOn: .global(), { heard.receive($0) }) == nil)
        await heard.waitForEvents(2)
        #expect(heard.all == ["failure: unsupported_scheme", "failure: unsupported_scheme"])
    }
}
