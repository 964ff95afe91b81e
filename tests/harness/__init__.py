"""What the end-to-end tests stand on: private servers, the fjord program, two readers, the oracle."""
