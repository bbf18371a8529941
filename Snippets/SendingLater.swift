// Forms that survive a lost network and the end of the app.
import BeagleNet

func setUp(_ dependencies: BeagleDependencies, _ folder: String) -> Outbox {
    // snippet.setup
    let outbox = Outbox(directory: "\(folder)/outbox")
    dependencies.interceptors.add(OutboxInterceptor(outbox))
    // snippet.end
    return outbox
}

func encryptedOutbox(_ folder: String, _ secret: Data) throws -> Outbox {
    // snippet.key
    let outbox = Outbox(directory: "\(folder)/outbox", key: try Outbox.Key(secret))
    // snippet.end
    return outbox
}

func outboxOfAServerThatRedirects(_ folder: String) -> Outbox {
    // snippet.redirects
    let outbox = Outbox(directory: "\(folder)/outbox") { entry, response in
        Outbox.isSeeOther(entry, response) || response.url.hasSuffix("/thanks")
    }
    // snippet.end
    return outbox
}

func signedIn(_ dependencies: BeagleDependencies, _ outbox: Outbox, _ networkReturns: AsyncStream<Void>)
    -> Outbox.Sender
{
    // snippet.start
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
        guard error.isStoredInOutbox else { throw error }
        print("no network: it will be ordered as soon as there is one")
    }
    // snippet.end
}

func show(_ outbox: Outbox) async throws {
    // snippet.entries
    for await entries in outbox.changes {
        for entry in entries {
            print(entry.method, entry.url, entry.state)
        }
    }
    // snippet.end
}

func decide(_ outbox: Outbox, _ refused: Outbox.Entry, sendsAgain: Bool) throws {
    // snippet.decide
    if sendsAgain {
        try outbox.retry(refused.id)
    } else {
        try outbox.remove(refused.id)
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
