extension AccessEvent {
  /// The metric that counts checks, by `accessor` and `outcome`.
  package static var checksMetric: String { "permcheck_log_checks" }
  /// The metric that counts requests, by `accessor`.
  package static var requestsMetric: String { "permcheck_log_requests" }
}
