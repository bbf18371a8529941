public import BeagleNet

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A task is the token of its request: a client built on `URLSession` returns it as it is.
extension URLSessionTask: RequestToken {}
