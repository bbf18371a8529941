public import BeagleNetHTTP
import BeagleNetRequestBuilder

extension NetworkClient {
    /// Submits a form.
    ///
    /// Its validators are asked first. While it is under way, submitting the same form with the same values joins it: one
    /// request is sent, and all get its reply. Cancelling the task leaves it; when all have left, it is cancelled.
    ///
    /// A form that was accepted isn't sent again to the same place, with the same person's credentials, until it is edited:
    /// submitting it gives the same reply. A form that is sent by GET, as a search, is sent each time. See
    /// `Form.allowResubmission()` and `FormSubmission.retry()` for what is meant to be sent twice.
    ///
    /// - Parameters:
    ///   - form: what to submit.
    ///   - target: path or URL.
    ///   - query: items put after the query that `target` has; those of a GET or DELETE form come before them.
    ///   - headers: header fields of this request.
    ///   - timeout: the longest that the whole call may take, with all attempts. By default only `Timeouts.total` limits each
    ///     attempt, and nothing limits a form with files.
    ///   - progress: called as bytes move, at most every 50 ms, on any thread, by clients that tell.
    /// - Returns: the server's reply, or which inputs are wrong: see `FormReply.isAccepted`. A status of 400, 409 or 422 that
    ///   names what is wrong is such a reply; see `FieldErrorReader`.
    /// - Throws: `NetworkError`: `.status` where the server refuses for another reason, `.badRequest` where the form is
    ///   under way with other values, `.file` and `.decoding` where what is to be sent cannot be read, or why there is
    ///   no response. An error that `isKept` is none to try again: an `Outbox` has the form and sends it later. The form's
    ///   group is forgotten then, and submitting it once more is another submission.
    public func submit(
        _ form: Form,
        to target: some RequestTarget,
        query: [URLQueryItem] = [],
        headers: [String: String] = [:],
        timeout: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(NetworkError) -> FormReply {
        let errors = form.validate()
        guard errors.isEmpty else { return FormReply(refusing: errors) }
        let url = try target.url(in: container)
        let changes = form.changes
        let message = FormTurn.Message(
            destination: FormTurn.Destination(
                url: url,
                query: query,
                headers: headers,
                person: container.credentialOwner
            ),
            data: try form.data()
        )
        return try await form.turn.result(of: message, changes: changes, progress: progress) { identity, mark, tell in
            await .catching { () throws(NetworkError) in try await perform(form, identity, mark, timeout, tell) }
        }
    }

    private func perform(
        _ form: Form,
        _ identity: FormTurn.Identity,
        _ mark: OutboxMark,
        _ timeout: Duration?,
        _ tell: @escaping FormTurn.Progress
    ) async throws(NetworkError) -> FormReply {
        var operation = NetworkOperation(try request(of: form, identity, timeout))
        operation.reportsProgress = true
        operation.idempotencyKey = identity.idempotencyKey
        operation.outbox = form.outbox
        if form.outbox == .automatic, let name = form.secretInput {
            operation.reasonNotToKeep = "its input \(name.debugDescription) is secret; set Form.outbox to store it"
        }
        operation.outboxMark = mark
        keep(form)
        do throws(NetworkError) {
            let result = try await run(operation) { result in
                if let progress = result.progress { tell(progress) }
            }
            guard let response = result.response else { throw .noResponse }
            let reply = FormReply(response)
            forget(form)
            return reply
        } catch {
            if error.isKept { forget(form) }
            let inputs = form.inputs.map(\.name)
            guard let reply = FormReply(refusedWith: error, inputs: inputs, container.fieldErrorReader) else {
                throw error
            }
            return reply
        }
    }

    private func request(
        of form: Form,
        _ identity: FormTurn.Identity,
        _ timeout: Duration?
    ) throws(NetworkError) -> Request {
        let destination = identity.message.destination
        var (data, headers) = (identity.message.data, destination.headers)
        data.boundary = identity.boundary
        if form.sendsIdempotencyKey, form.method == .post, !headers.hasIdempotencyKey {
            headers[HTTPField.Name.idempotencyKey.rawName] = identity.idempotencyKey
        }
        var request = try makeRequest(destination.url, .submitForm(data), destination.query, headers, timeout)
        if timeout == nil, data.fields.contains(where: { $0.file != nil }) { request.liftTotalTimeout(of: options) }
        return request
    }

    /// A draft that cannot be kept is no reason not to send it.
    private func keep(_ form: Form) {
        do throws(NetworkError) { try form.save() } catch { log("Could not save the values of a form", error) }
    }

    /// The server has acted: a draft that stays behind must not hide that.
    private func forget(_ form: Form) {
        do throws(NetworkError) { try form.clear() } catch {
            log("Could not delete the saved values of a form", error)
        }
    }

    private func log(_ what: String, _ error: NetworkError) {
        container.logger.log(FormMessage(message: "\(what): \(error.message)"))
    }
}

extension [String: String] {
    /// Whether the app brings a key of its own.
    var hasIdempotencyKey: Bool {
        keys.contains { HTTPField.Name($0) == .idempotencyKey }
    }
}

/// What a log says of a form.
struct FormMessage: LogType {
    let message: String

    var category: String { "Form" }
    var level: LogLevel { .warning }
}
