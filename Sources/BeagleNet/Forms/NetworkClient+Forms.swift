public import BeagleNetHTTP
import BeagleNetRequestBuilder

extension NetworkClient {
    /// Validates and submits a form.
    ///
    /// While it is in flight, submitting the same form joins it: one request is sent, and all callers receive its
    /// reply. If the form was edited in the meantime, the edits stay in the form, and `Form.Reply.hasUnsentEdits` is
    /// `true`. A cancelled task leaves the submission; when the last caller has left, the request is cancelled.
    ///
    /// An accepted form isn't sent again to the same destination with the same user's credentials until it is edited:
    /// submitting it returns the same reply. A form that is sent by GET, such as a search, is sent each time. See
    /// `Form.allowResubmission()` and `Form.Submission.retry()` for forms that are meant to be sent twice.
    ///
    /// - Parameters:
    ///   - form: The form to submit.
    ///   - target: A path or URL.
    ///   - query: The items to append to the query of `target`. The inputs of a GET or DELETE form come before them.
    ///   - headers: The header fields of this request.
    ///   - timeout: The timeout of the whole call, including all attempts. By default only
    ///     `TransferOptions.Timeouts.total` limits each attempt, and a form with files has no limit.
    ///   - progress: Called as bytes are transferred, at most every 50 ms, on any thread, if the client reports
    ///     progress.
    /// - Returns: The server's reply, or the field errors; see `Form.Reply.isAccepted`. A response with status 400, 409
    ///   or 422 that contains field errors is such a reply; see `Form.FieldErrorReader`.
    /// - Throws: `NetworkError`: `.status` if the server rejects the form for another reason, `.badRequest` if the form
    ///   is in flight to another destination, `.file` and `.decoding` if the data to send can't be read, or the reason
    ///   why there is no response. Don't retry after an error that `isStoredInOutbox`: an `Outbox` has stored the form
    ///   and sends it later. The form's group is then deleted, and submitting the form again is a new submission.
    public func submit(
        _ form: Form,
        to target: some Request.Target,
        query: [URLQueryItem] = [],
        headers: [String: String] = [:],
        timeout: Duration? = nil,
        progress: (@Sendable (TransferRequest.Progress) -> Void)? = nil
    ) async throws(NetworkError) -> Form.Reply {
        let draft = try await form.draft()
        guard let (contents, data) = draft.values else {
            let reply = Form.Reply(refusing: draft.errors)
            form.monitor.refused(reply)
            return reply
        }
        let url = try target.url(in: container)
        let message = FormSubmissionGate.Message(
            destination: FormSubmissionGate.Destination(
                url: url,
                query: query,
                headers: headers,
                credentialOwner: container.credentialOwner
            ),
            data: data
        )
        return try await form.submissionGate.result(of: message, changes: draft.changes, progress: progress) {
            identity,
            writeFlag,
            tell in
            let run = form.monitor.began(contents)
            let outcome = await FormSubmissionGate.Outcome.catching { () throws(NetworkError) in
                try await perform(form, contents, identity, writeFlag, timeout) { progress in
                    form.monitor.progressed(progress, of: run)
                    tell(progress)
                }
            }
            form.monitor.ended(outcome, of: run)
            return outcome
        }
    }

    /// Submits the data of a form that isn't kept, without validation.
    ///
    /// Each call sends a request; `submit(_:to:)` with a `Form` validates the inputs and sends a form once.
    ///
    /// - Parameters:
    ///   - data: The method and inputs.
    ///   - target: A path or URL.
    ///   - query: The items to append to the query of `target`. The inputs of a GET or DELETE form come before them.
    ///   - headers: The header fields of this request.
    ///   - timeout: The timeout of the whole call, including all attempts. By default only
    ///     `TransferOptions.Timeouts.total` limits each attempt.
    /// - Returns: The server's reply. A response with status 400, 409 or 422 that contains field errors is a reply that
    ///   isn't accepted; see `Form.FieldErrorReader`.
    /// - Throws: `NetworkError`: `.status` if the server rejects the form for another reason, with its response body in
    ///   `data`, or the reason why there is no response.
    public func submit(
        _ data: Request.FormData,
        to target: some Request.Target,
        query: [URLQueryItem] = [],
        headers: [String: String] = [:],
        timeout: Duration? = nil
    ) async throws(NetworkError) -> Form.Reply {
        let request = try makeRequest(target, .submitForm(data), query, headers, timeout)
        do throws(NetworkError) {
            return Form.Reply(try await executeRequest(request))
        } catch {
            let inputs = data.fields.map(\.name)
            guard let reply = Form.Reply(refusedWith: error, inputs: inputs, container.fieldErrorReader) else {
                throw error
            }
            return reply
        }
    }

    private func perform(
        _ form: Form,
        _ contents: FormContents,
        _ identity: FormSubmissionGate.Identity,
        _ writeFlag: OutboxWriteFlag,
        _ timeout: Duration?,
        _ onProgress: @escaping FormSubmissionGate.Progress
    ) async throws(NetworkError) -> Form.Reply {
        var operation = NetworkOperation(try request(of: form, identity, timeout))
        operation.reportsProgress = true
        operation.idempotencyKey = identity.idempotencyKey
        operation.outbox = form.outbox
        if form.outbox == .automatic, let name = form.secretInput {
            operation.reasonNotToStore = "its input \(name.debugDescription) is secret; set Form.outbox to store it"
        }
        operation.outboxWriteFlag = writeFlag
        keep(form)
        do throws(NetworkError) {
            let result = try await run(operation) { result in
                if let progress = result.progress { onProgress(progress) }
            }
            guard let response = result.response else { throw .noResponse }
            var reply = Form.Reply(response)
            reply.hasUnsentEdits = form.contents != contents
            forget(form, sent: contents)
            return reply
        } catch {
            if error.isStoredInOutbox { forget(form, sent: contents) }
            let inputs = form.inputs.map(\.name)
            guard var reply = Form.Reply(refusedWith: error, inputs: inputs, container.fieldErrorReader) else {
                throw error
            }
            reply.hasUnsentEdits = form.contents != contents
            return reply
        }
    }

    private func request(
        of form: Form,
        _ identity: FormSubmissionGate.Identity,
        _ timeout: Duration?
    ) throws(NetworkError) -> Request {
        let destination = identity.message.destination
        var (data, headers) = (identity.message.data, destination.headers)
        data.boundary = identity.boundary
        if form.hasIdempotencyKey, !headers.hasIdempotencyKey {
            headers[HTTPField.Name.idempotencyKey.rawName] = identity.idempotencyKey
        }
        var request = try makeRequest(destination.url, .submitForm(data), destination.query, headers, timeout)
        if let httpData = form.httpData {
            request.additionalData = HttpAdditionalData(httpData: httpData, headers: headers)
        }
        if timeout == nil, data.fields.contains(where: { $0.file != nil }) { request.liftTotalTimeout(of: options) }
        return request
    }

    /// Stores the draft; the form is sent even if that fails.
    private func keep(_ form: Form) {
        do throws(NetworkError) { try form.save() } catch { log("Could not save the values of a form", error) }
    }

    /// Deletes the draft, unless there are edits that weren't sent; a failure must not hide that the server has acted.
    private func forget(_ form: Form, sent contents: FormContents) {
        do throws(NetworkError) { try form.clear() } catch {
            log("Could not delete the saved values of a form", error)
        }
        if form.contents != contents { keep(form) }
    }

    private func log(_ what: String, _ error: NetworkError) {
        container.logger.log(FormLog(message: "\(what): \(error.message)"))
    }
}

extension [String: String] {
    /// Whether the app sets its own idempotency key.
    var hasIdempotencyKey: Bool {
        keys.contains { HTTPField.Name($0) == .idempotencyKey }
    }
}

/// A log message about a form.
struct FormLog: LogType {
    let message: String

    var category: String { "Form" }
    var level: LogLevel { .warning }
}
