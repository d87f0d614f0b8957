//// all of softmax_of_long_middle_axis
