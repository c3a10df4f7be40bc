# unit tests of wire
