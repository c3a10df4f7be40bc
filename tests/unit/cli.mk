# unit tests of cli
