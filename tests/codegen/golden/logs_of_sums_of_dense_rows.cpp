//// all of sum_of_short_rows
