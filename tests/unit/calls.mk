# unit tests of calls
