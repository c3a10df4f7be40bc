typedef int calls_is_empty;
