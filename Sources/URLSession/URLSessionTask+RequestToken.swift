public import BeagleNet

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Lets a client built on `URLSession` return a task as the token of its request.
extension URLSessionTask: RequestToken {}
