extension HTTPField.Name {
    /// By which a server tells that it has acted on a message already (draft-ietf-httpapi-idempotency-key-header).
    package static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
}
