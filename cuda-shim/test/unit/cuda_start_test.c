#include "cuda_calls.h"
int main(void) { (void)test_context(); return check_result(); }
