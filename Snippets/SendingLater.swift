// Forms that outlive a lost network and the end of the app.
import BeagleNet

func setUp(_ dependencies: BeagleDependencies, _ folder: String, _ networkReturns: AsyncStream<Void>) -> OutboxSender {
    // snippet.setup
    let outbox = Outbox(directory: "\(folder)/outbox")
    dependencies.interceptors.add(OutboxInterceptor(outbox))
    let sender = outbox.sendAutomatically(
        with: dependencies.networkClient,
        whenNetworkReturns: networkReturns
    )
    // snippet.end
    return sender
}

func submit(_ client: any NetworkClient, _ form: Form) async throws {
    // snippet.submit
    do {
        let reply = try await client.submit(form, to: "/orders")
        print(reply.isAccepted ? "ordered" : "please correct the form")
    } catch {
        guard error.isKept else { throw error }
        print("no network: it will be ordered as soon as there is one")
    }
    // snippet.end
}

func show(_ outbox: Outbox) async throws {
    // snippet.entries
    for await entries in outbox.changes {
        for entry in entries {
            print(entry.method, entry.url, entry.state)
            if case .refused = entry.state { try outbox.remove(entry.id) }
        }
    }
    // snippet.end
}

func choose(_ client: any NetworkClient, _ request: Request) async throws {
    // snippet.queue
    var operation = NetworkOperation(request)
    operation.outbox = .queue("comments")
    let result = try await client.run(operation)
    // snippet.end
    print(result)
}
