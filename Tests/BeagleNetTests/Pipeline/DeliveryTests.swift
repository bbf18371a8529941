import BeagleNet
import BeagleNetTesting
import Dispatch
import Testing
import TestClients

@Suite(.beagle(), .timeLimit(.minutes(5))) struct DeliveryTests {
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
        let received = EventRecorder()
        let queue = DispatchQueue(label: "received")
        client.watch(component, deliverOn: queue) { event in
            dispatchPrecondition(condition: .onQueue(queue))
            received.receive(event)
        }
        await received.waitForEvents(101)
        #expect(received.all == Self.expected)
        withExtendedLifetime(client) {}
    }

    @Test func eventsAreDeliveredToTheMainActorInOrder() async {
        let client = client()
        let received = EventRecorder()
        client.watch(component, deliverOn: MainActor.shared) { event in
            MainActor.assertIsolated()
            received.receive(event)
        }
        await received.waitForEvents(101)
        #expect(received.all == Self.expected)
        withExtendedLifetime(client) {}
    }

    @Test @MainActor func cancellingOnTheDeliveryContextStopsDelivery() async {
        let client = client()
        let received = EventRecorder()
        // Events that were already sent wait until this function leaves the actor.
        client.watch(component, deliverOn: MainActor.shared) { received.receive($0) }?.cancel()
        let queue = DispatchQueue(label: "received")
        queue.sync { client.watch(component, deliverOn: queue) { received.receive($0) }?.cancel() }
        queue.sync {}
        await Task { @MainActor in }.value
        #expect(received.all == [])
        #expect(client.activeOperations == 0)
    }

    @Test func endIsDeliveredWhenTheClientIsReleased() async {
        let received = EventRecorder()
        do {
            let client = client()
            client.watch(component, deliverOn: MainActor.shared) { received.receive($0) }
            await received.waitForEvents(101)
        }
        await received.waitForEvents(102)
        #expect(received.all.last == "end")
    }

    @Test func invalidRequestIsDeliveredAsAFailure() async {
        let client = client()
        let received = EventRecorder()
        let broken = NetworkOperation(Request(url: URL(string: "ftp://host/")!, type: .fetchComponent))
        #expect(client.watch(broken, deliverOn: MainActor.shared, { received.receive($0) }) == nil)
        #expect(client.watch(broken, deliverOn: .global(), { received.receive($0) }) == nil)
        await received.waitForEvents(2)
        #expect(received.all == ["failure: unsupported_scheme", "failure: unsupported_scheme"])
    }
}
